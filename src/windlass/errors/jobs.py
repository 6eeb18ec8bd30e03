"""3xxx: jobs — finding them, changing them, waiting for them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal
from uuid import UUID

from windlass.errors.base import FieldError, WindlassError
from windlass.errors.wording import (
    counted,
    did_you_mean,
    listed,
    quoted,
    sentence,
    shorten,
    with_type,
)
from windlass.ids import JobId, parse_job_id, short

_STATES = {
    "pending": "is pending",
    "queued": "is queued",
    "running": "is running",
    "completed": "completed",
    "canceled": "was canceled",
    "dead_letter": "was dead-lettered",
}
_DONE = {
    "cancel": "canceled",
    "retry": "retried",
    "run_now": "run now",
    "discard": "discarded",
    "update": "changed",
    "delete": "deleted",
}


class JobNotFound(WindlassError):
    """No job has this id, at least none the caller may see. It may have been pruned."""

    code = "WL3301"

    def __init__(self, job: UUID | str) -> None:
        self.job = str(job)
        super().__init__(
            f"no job {self.job}."
            if isinstance(job, UUID) or parse_job_id(job)
            else f"no job's id ends in {quoted(job)}.",
            reason="It never existed, belongs to another tenant, or was pruned.",
            hint="`windlass jobs list` shows the jobs there are.",
        )


class JobStateConflict(WindlassError):
    """The verb does not apply to a job in this state; nothing was changed.

    `since` says for how long it has been so ("4 s"), `allowed` the states in which the
    verb would apply.
    """

    code = "WL3302"

    def __init__(
        self, job: JobId, *, verb: str, state: str, since: str = "", allowed: Collection[str] = ()
    ) -> None:
        self.job = job
        self.verb = verb
        self.state = state
        states = [known for known in _STATES if known in allowed]
        states += sorted(set(allowed) - set(states))
        again = "retry" if state in ("dead_letter", "canceled") else "clone"
        super().__init__(
            f"job {short(job)} cannot be {_DONE.get(verb.replace(' ', '_'), verb)}: "
            f"it {_STATES.get(state, f'is {state}')}{f' {since} ago' if since else ''}.",
            reason=f"Only {listed(states)} jobs can be." if states else "",
            hint=f"To see what it did: `windlass jobs show {short(job)}`; "
            f"to run it again: `windlass jobs {again} {short(job)}`.",
        )


class AmbiguousId(WindlassError):
    """Several jobs' ids end in what was typed, or it names several of something else. `candidates`
    has some of them."""

    code = "WL3303"

    def __init__(
        self,
        suffix: str,
        candidates: Sequence[UUID | str],
        *,
        said: str = "jobs end in",
        hint: str = "Type more of the id.",
    ) -> None:
        self.suffix = suffix
        self.candidates = tuple(candidates)
        super().__init__(
            f"several {said} {quoted(suffix)}.",
            reason=f"Among them {listed([str(each) for each in candidates])}.",
            hint=hint,
        )


class DuplicateJob(WindlassError):
    """An equal job exists and `on_duplicate="error"` was asked for."""

    code = "WL3304"

    def __init__(self, existing: JobId, *, because: str) -> None:
        self.existing = existing
        self.because = because
        super().__init__(
            f"an equal job exists: {existing}.",
            reason=f"It has the same {because}.",
            hint=f"See it: `windlass jobs show {short(existing)}`.",
        )


class BatchRefused(WindlassError):
    """Jobs of a batch were refused, so none of it was stored. `refused` has each one's error by its
    place."""

    code = "WL3307"

    def __init__(self, refused: Mapping[int, WindlassError]) -> None:
        self.refused = dict(sorted(refused.items()))
        [first, *_] = self.refused.values()
        count = counted(len(refused), "job")
        super().__init__(
            f"{count} of the batch {'is' if len(refused) == 1 else 'are'} refused, and none is stored.",
            reason=sentence(f"job {next(iter(self.refused)) + 1}: {first.message}"),
            hint="Correct or leave out the jobs at fault, and send the batch again.",
            errors=[
                FieldError(f"/{place}{each.pointer}", each.message)
                for place, error in self.refused.items()
                for each in error.errors
                or [FieldError("", f"{error.message} {error.reason}".strip())]
            ],
        )


class ParentInvalid(WindlassError):
    """A job cannot wait for this parent: it is unknown, another tenant's, or the job itself."""

    code = "WL3305"

    def __init__(self, parent: UUID, *, because: Literal["unknown", "cycle"]) -> None:
        self.parent = parent
        self.because = because
        unknown = because == "unknown"
        super().__init__(
            f"job {short(parent)} cannot be a parent.",
            reason="No such job exists in this tenant." if unknown else "It would wait for itself.",
            hint="Give ids of jobs enqueued before, of the same tenant.",
        )


class DeadGroupNotFound(WindlassError):
    """No dead-lettered job of this definition has this cause, at least none the caller may see."""

    code = "WL3306"

    def __init__(self, definition: str, fingerprint: str) -> None:
        self.definition = definition
        self.fingerprint = fingerprint
        super().__init__(
            f"no dead-lettered job of {quoted(definition)} has the cause {quoted(fingerprint)}.",
            reason="They were retried, discarded or pruned, or never were.",
            hint="`windlass dead groups --all` has the causes there are.",
        )


class JobFailed(WindlassError):
    """The job that was waited for ended without success.

    `state` is `dead_letter`, or `canceled` of a JobCanceled; `error_type` and `error` are those of
    its last attempt, empty if it never ran.
    """

    code = "WL3401"

    def __init__(
        self, job: JobId, *, state: str, error_type: str | None = None, error: str | None = None
    ) -> None:
        self.job = job
        self.state = state
        self.error_type = error_type
        self.error = error
        super().__init__(
            f"job {short(job)} {_STATES.get(state, state)}.",
            reason=with_type(error_type, shorten(error or "")),
            hint=f"See `windlass jobs show {short(job)}`.",
        )


class JobCanceled(JobFailed):
    """The job that was waited for was canceled. It is a JobFailed, too. `error` has the reason that
    was given, or its last error."""

    code = "WL3405"

    def __init__(
        self, job: JobId, *, error_type: str | None = None, error: str | None = None
    ) -> None:
        super().__init__(job, state="canceled", error_type=error_type, error=error)


class JobRejected(WindlassError):
    """A receipt was waited for whose job was rejected: a limit refused it, and nothing was stored."""

    code = "WL3406"

    def __init__(self, job: JobId, *, because: str | None = None) -> None:
        self.job = job
        self.because = because
        super().__init__(
            "there is no job to wait for: it was rejected.",
            reason=sentence(because or ""),
            hint="Look at `receipt.rejected` before waiting, and enqueue it again later.",
        )


class ResultMismatch(WindlassError):
    """The job completed, but its stored result does not fit the return type of its handler here.
    `pointer` says where in the result."""

    code = "WL3407"

    def __init__(self, job: JobId, problem: str, *, pointer: str = "") -> None:
        self.job = job
        self.pointer = pointer
        super().__init__(
            f"the result of job {short(job)} does not fit the return type of its handler.",
            reason=sentence(f"{pointer}: {problem}" if pointer else problem),
            hint=f"Correct the handler's return type; `windlass jobs show {short(job)}` shows the "
            "result as stored.",
            errors=[FieldError(pointer, problem)],
        )


class WaitTimeout(WindlassError):
    """The job had not ended when the wait was over. It continues."""

    code = "WL3402"

    def __init__(self, job: JobId, *, seconds: float, state: str) -> None:
        self.job = job
        self.seconds = seconds
        self.state = state
        super().__init__(
            f"job {short(job)} has not ended within {seconds:g} s.",
            reason=f"It is still {state} and will keep running.",
            hint=f"Why it is not done: `windlass jobs explain {short(job)}`.",
        )


class WorkerNotFound(WindlassError):
    """No worker with this id was seen lately. One that stops leaves, and one that is lost is
    removed after a day."""

    code = "WL3601"

    def __init__(self, worker: str, *, known: Collection[str] = ()) -> None:
        self.worker = worker
        super().__init__(
            f"no worker {quoted(worker)}.",
            reason="It has stopped, or was not seen for a day.",
            hint=did_you_mean(worker, known)
            + "`windlass workers list` shows the workers; the last six or more characters of an "
            "id are enough.",
        )


class WorkerGone(WindlassError):
    """A worker that was not seen for a lease takes no orders: its jobs go to others."""

    code = "WL3602"

    def __init__(self, worker: str) -> None:
        self.worker = worker
        super().__init__(
            f"worker {worker} is lost and takes no orders.",
            reason="It was not seen for a whole lease; other workers take its jobs back.",
            hint="If its process still runs, end that; a lost worker is removed after a day.",
        )


class WorkerStopping(WindlassError):
    """A worker that stops can neither drain and stay, nor claim again."""

    code = "WL3603"

    def __init__(self, worker: str, *, verb: str) -> None:
        self.worker = worker
        self.verb = verb
        super().__init__(
            f"worker {worker} is stopping and cannot {verb}.",
            reason="A stop is not taken back: it claims no more, and ends.",
            hint="Start another: `windlass worker`.",
        )


class ResultInvalid(WindlassError):
    """A handler returned something that JSON cannot hold. `pointer` says where in the result.

    The attempt failed, and the job is not tried again: its work was done, and would be done again.
    """

    code = "WL3403"

    def __init__(self, pointer: str, problem: str) -> None:
        self.pointer = pointer
        super().__init__(
            f"the handler's result cannot be stored: {pointer or 'it'} {problem}.",
            hint="Return what JSON can hold: text, numbers, lists, objects, dates, dataclasses, "
            "models.",
            errors=[FieldError(pointer, problem)],
        )


class ResultTooLarge(WindlassError):
    """A handler returned more than limits.result_bytes.

    The attempt failed, and the job is not tried again: its work was done, and would be done again.
    """

    code = "WL3404"

    def __init__(self, *, size: int, limit: int) -> None:
        self.size = size
        self.limit = limit
        super().__init__(
            f"the handler's result has {size:,} bytes, the limit is {limit:,}.",
            hint="Store it elsewhere and return where it is, or declare the job with "
            "truncate_result=True to keep its head.",
        )


class OnceUnavailable(WindlassError):
    """A handler called `ctx.once` without a database: in a process of its own, or in a remote worker."""

    code = "WL3502"

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(
            "ctx.once is not available.",
            reason=sentence(why),
            hint='Call it in a handler with isolation="thread", in a worker with a database.',
        )


class TransactionUnsupported(WindlassError):
    """Windlass cannot write through what was given as `tx`."""

    code = "WL3501"

    def __init__(self, kind: str, *, problem: str = "") -> None:
        self.kind = kind
        article = "an" if kind[:1].lower() in tuple("aeiou") else "a"
        super().__init__(
            f"{article} {kind} cannot be used as tx.",
            reason=sentence(problem or "it is no connection or session Windlass knows"),
            hint="Give a connection to the database of Windlass: of SQLAlchemy, psycopg, asyncpg, "
            "PyMySQL, asyncmy or sqlite3, or the alias of a Django database.",
        )
