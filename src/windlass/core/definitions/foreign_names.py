"""Names that other libraries use, and what Windlass has instead. One row for each name.

Used for errors alone: a foreign name is never accepted.
"""

from collections.abc import Mapping

_ATTEMPTS = "`max_attempts=5`, which counts the first run, too"
_BACKOFF = '`backoff=Backoff.exponential("5s", cap="5m")`'
_FIXED = '`backoff=Backoff.fixed("60s")`'
_TIMEOUT = '`timeout="30s"`'
_CONTEXT = "a first parameter `ctx: JobContext`"
_KEY = 'the key as the first argument: `@wl.job("mail.send")`'
_QUEUE = '`queue="mail"`'
_DEDUPE = '`dedupe_key="order:42"`'
_RETENTION = "`retention_days=7`"
_NEVER_DROPPED = "nothing: a job is acknowledged when it has ended, and a lost one runs again"

#: Options of `@wl.job(...)`.
DEFINITION_OPTIONS: Mapping[str, str] = {
    "name": _KEY,
    "actor_name": _KEY,
    "bind": _CONTEXT,
    "pass_context": _CONTEXT,
    "context": _CONTEXT,
    "queue_name": _QUEUE,
    "routing_key": _QUEUE,
    "autoretry_for": "`retry_on=[ConnectionError]`",
    "retry_for": "`retry_on=[ConnectionError]`",
    "retry_exceptions": "`retry_on=[ConnectionError]`",
    "dont_autoretry_for": "`permanent=[ValueError]`",
    "throws": "`permanent=[ValueError]`",
    "max_retries": _ATTEMPTS,
    "retries": _ATTEMPTS,
    "retry": _ATTEMPTS,
    "retry_kwargs": f"{_ATTEMPTS}, and {_FIXED}",
    "retry_delay": _FIXED,
    "default_retry_delay": _FIXED,
    "retry_backoff": _BACKOFF,
    "retry_backoff_max": _BACKOFF,
    "retry_jitter": _BACKOFF,
    "min_backoff": _BACKOFF,
    "max_backoff": _BACKOFF,
    "time_limit": _TIMEOUT,
    "soft_time_limit": _TIMEOUT,
    "job_timeout": _TIMEOUT,
    "acks_late": _NEVER_DROPPED,
    "acks_on_failure_or_timeout": _NEVER_DROPPED,
    "reject_on_worker_lost": _NEVER_DROPPED,
    "ignore_result": f"{_RETENTION}, or return nothing",
    "store_results": f"nothing: results are stored, and pruned by {_RETENTION}",
    "result_ttl": _RETENTION,
    "failure_ttl": _RETENTION,
    "track_started": "nothing: attempts are recorded when they start",
    "serializer": "type hints: payloads are JSON, checked against them",
    "lock": '`key="args.account_id"`, which runs one job for each value at a time',
    "queueing_lock": '`dedupe="payload"`',
    "unique": '`dedupe="payload"`',
    "crontab": '`schedule=cron("0 2 * * *")`',
    "cron": '`schedule=cron("0 2 * * *")`',
    "run_every": '`schedule=every("10m")`',
    "depends_on": '`after=["extract"]`',
}

#: Options of `.options(...)` and `wl.enqueue(...)`.
ENQUEUE_OPTIONS: Mapping[str, str] = {
    "countdown": '`delay="10s"`',
    "schedule_in": '`delay="10s"`',
    "eta": "`at=datetime(…, tzinfo=UTC)`",
    "run_at": "`at=datetime(…, tzinfo=UTC)`",
    "schedule_at": "`at=datetime(…, tzinfo=UTC)`",
    "scheduled_at": "`at=datetime(…, tzinfo=UTC)`",
    "ttl": '`expires="1h"`',
    "max_age": '`expires="1h"`',
    "queue_name": _QUEUE,
    "routing_key": _QUEUE,
    "time_limit": _TIMEOUT,
    "soft_time_limit": _TIMEOUT,
    "job_timeout": _TIMEOUT,
    "max_retries": _ATTEMPTS,
    "retries": _ATTEMPTS,
    "retry": _ATTEMPTS,
    "job_id": '`idempotency_key="order-42"`: Windlass makes the ids',
    "task_id": '`idempotency_key="order-42"`: Windlass makes the ids',
    "lock": '`limit_key="order:42"`, with `max_per_key=1` at the definition',
    "queueing_lock": _DEDUPE,
    "unique": _DEDUPE,
    "depends_on": "`after=[receipt]`",
    "meta": "`metadata={…}`",
    "headers": "`metadata={…}`",
    "at_front": '`priority="critical"`',
    "args": "the arguments to `.enqueue(…)`",
    "kwargs": "the arguments to `.enqueue(…)`",
    "link": "`after=[receipt]` to the job that follows",
    "link_error": "`on_dead_letter=handle` to `@wl.job(…)`",
    "result_ttl": f"{_RETENTION} to `@wl.job(…)`",
    "failure_ttl": f"{_RETENTION} to `@wl.job(…)`",
}

#: Attributes of a declared job.
JOB_VERBS: Mapping[str, str] = {
    "delay": "`.enqueue(…)`",
    "send": "`.enqueue(…)`",
    "defer": "`.enqueue(…)`",
    "defer_async": "`.enqueue(…)`",
    "push": "`.enqueue(…)`",
    "apply_async": '`.options(delay="10s", queue="mail").enqueue(…)`',
    "send_with_options": '`.options(delay="10s", queue="mail").enqueue(…)`',
    "schedule": '`.options(delay="10s").enqueue(…)`',
    "enqueue_in": '`.options(delay="10s").enqueue(…)`',
    "enqueue_at": "`.options(at=…).enqueue(…)`",
    "configure": '`.options(delay="10s", queue="mail")`',
    "set": '`.options(delay="10s", queue="mail")`',
    "using": '`.options(delay="10s", queue="mail")`',
    "delay_on_commit": "`.options(tx=session).enqueue(…)`",
    "apply_async_on_commit": "`.options(tx=session).enqueue(…)`",
    "s": "`.make(…)`, and `wl.enqueue_many`",
    "si": "`.make(…)`, and `wl.enqueue_many`",
    "signature": "`.make(…)`, and `wl.enqueue_many`",
    "subtask": "`.make(…)`, and `wl.enqueue_many`",
    "message": "`.make(…)`, and `wl.enqueue_many`",
    "map": "`.make(…)`, and `wl.enqueue_many`",
    "starmap": "`.make(…)`, and `wl.enqueue_many`",
    "chunks": "`.make(…)`, and `wl.enqueue_many`",
    "batch_defer": "`.make(…)`, and `wl.enqueue_many`",
    "apply": "a call of the job itself, which runs it here",
    "call_local": "a call of the job itself, which runs it here",
    "call": "a call of the job itself, which runs it here",
    "fn": "a call of the job itself, which runs it here",
    "retry": '`raise Retry(after="5m")` in the handler',
    "AsyncResult": "`wl.jobs.get(id)`, or `wait` of the receipt",
    "revoke": "`wl.jobs.cancel(id)`",
}
