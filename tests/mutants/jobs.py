"""Bugs in requests of people: enqueue with its keys, cancel and retry."""

from collections.abc import Sequence

from tests.mutants.mutant import Mutant

_KEYS = "tests/conformance/jobs/enqueue/test_dedupe_keys.py"
_DEDUPE = (
    f"{_KEYS}::test_a_dedupe_key_returns_the_open_job",
    f"{_KEYS}::test_concurrent_enqueues_of_one_key_create_one_job",
)
_WINDOW = (f"{_KEYS}::test_a_dedupe_window_starts_at_enqueue_and_outlasts_the_end",)
_IDEMPOTENCY = (f"{_KEYS}::test_an_idempotency_key_returns_its_job_in_any_state",)
_CANCEL = (
    "tests/conformance/jobs/changes/test_cancel.py::test_a_running_job_is_asked_to_stop_and_runs_until_it_ends",
)
_FOREIGN = ("tests/conformance/jobs/changes/test_cancel.py::test_another_tenant_cancels_nothing",)
_RETRY = "tests/conformance/jobs/changes/test_retry.py"
_FRESH = (f"{_RETRY}::test_a_retried_job_is_due_at_once_with_fresh_attempts",)

_STORED: Sequence[Mutant] = (
    Mutant(
        name="sqlite: dedupe key taken from an open job",
        file="storage/sqlite/sql/jobs/enqueue/enqueue.sql",
        old="where not k.open and k.until <= {now}",
        new="where k.until <= {now}",
        tests=_DEDUPE,
    ),
    Mutant(
        name="postgresql: dedupe key taken from an open job",
        file="storage/postgres/sql/jobs/enqueue/enqueue.sql",
        old="where not k.open and k.until <= {now}",
        new="where k.until <= {now}",
        tests=_DEDUPE,
    ),
    Mutant(
        name="sqlite: dedupe window ignored",
        file="storage/sqlite/sql/jobs/enqueue/enqueue.sql",
        old="where not k.open and k.until <= {now}",
        new="where not k.open",
        tests=_WINDOW,
    ),
    Mutant(
        name="postgresql: dedupe window ignored",
        file="storage/postgres/sql/jobs/enqueue/enqueue.sql",
        old="where not k.open and k.until <= {now}",
        new="where not k.open",
        tests=_WINDOW,
    ),
    Mutant(
        name="sqlite: idempotency key not checked",
        file="storage/sqlite/sql/jobs/enqueue/enqueue.sql",
        old="    and (i.idempotency_key is null\n"
        "         or exists (select 1 from windlass_keys k where k.tenant_id = i.tenant_id\n"
        "                    and k.kind = 'idempotency' and k.key = i.idempotency_key and k.job_id = i.id))\n"
        "    and (i.dedupe_key",
        new="    and (i.dedupe_key",
        tests=_IDEMPOTENCY,
    ),
    Mutant(
        name="postgresql: idempotency key not checked",
        file="storage/postgres/sql/jobs/enqueue/enqueue.sql",
        old="and (idempotency_key is null or id in (select job_id from taken_idempotency_keys))\n"
        "        and (dedupe_key",
        new="and (dedupe_key",
        tests=_IDEMPOTENCY,
    ),
    Mutant(
        name="an enqueue whose answer was lost made anew",
        file="engine/jobs/enqueue.py",
        old="left = [job for job in jobs if job.id not in stored] if stored else jobs",
        new="left = list(jobs)",
        tests=("tests/engine/jobs/test_enqueue_batcher.py",),
    ),
)

_ASKED: Sequence[Mutant] = (
    Mutant(
        name="sqlite: cancel of a running job ends it at once",
        file="storage/sqlite/sql/jobs/cancel.sql",
        old="cross join windlass_live j on j.id = i.id and j.state = 'queued'\n",
        new="cross join windlass_live j on j.id = i.id\n",
        tests=_CANCEL,
    ),
    Mutant(
        name="sqlite: cancel a foreign tenant's job",
        file="storage/sqlite/sql/jobs/cancel.sql",
        old="where id in (select id from {ids} i) and state = 'running'\n"
        "    and (:tenant_id is null or tenant_id = :tenant_id) and",
        new="where id in (select id from {ids} i) and state = 'running' and",
        tests=_FOREIGN,
    ),
    Mutant(
        name="sqlite: retry without fresh attempts",
        file="storage/sqlite/sql/jobs/retry.sql",
        old="idempotency_key, on_parent_failure, max_attempts, lease_token, worker_id,\n",
        new="idempotency_key, on_parent_failure, max_attempts, attempts, lease_token, worker_id,\n",
        also=(
            (
                "m.max_attempts, m.lease_token, m.worker_id,",
                "m.max_attempts, m.attempts, m.lease_token, m.worker_id,",
            ),
        ),
        tests=_FRESH,
    ),
    Mutant(
        name="sqlite: retry begins tokens anew",
        file="storage/sqlite/sql/jobs/retry.sql",
        old="m.max_attempts, m.lease_token, m.worker_id,",
        new="m.max_attempts, 0, m.worker_id,",
        tests=(f"{_RETRY}::test_lease_tokens_keep_rising_and_earlier_attempts_stay_readable",),
    ),
    Mutant(
        name="postgresql: retry begins tokens anew",
        file="storage/postgres/sql/jobs/retry.sql",
        old="m.max_attempts, m.lease_token, m.worker_id,",
        new="m.max_attempts, 0, m.worker_id,",
        tests=(f"{_RETRY}::test_lease_tokens_keep_rising_and_earlier_attempts_stay_readable",),
    ),
    Mutant(
        name="mariadb: retry begins tokens anew",
        file="storage/mysql/sql/jobs/retry.sql",
        old="m.max_attempts, m.lease_token, m.worker_id,",
        new="m.max_attempts, 0, m.worker_id,",
        tests=(f"{_RETRY}::test_lease_tokens_keep_rising_and_earlier_attempts_stay_readable",),
    ),
    Mutant(
        name="sqlite: retry of a job that has completed",
        file="storage/sqlite/sql/jobs/retry.sql",
        old="e.state in ('dead_letter', 'canceled')",
        new="e.state in ('dead_letter', 'canceled', 'completed')",
        tests=(f"{_RETRY}::test_a_job_in_another_state_is_not_retried",),
    ),
)

MUTANTS: Sequence[Mutant] = (*_STORED, *_ASKED)
