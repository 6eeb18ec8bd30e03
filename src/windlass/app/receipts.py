"""Receipts of a program's enqueues: they can be waited for, and the result has the job's type."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from windlass.core.durations import duration
from windlass.core.jobs.models import ALL_TENANTS, Job, Receipt, Scope
from windlass.core.payloads.typed_result import ResultType
from windlass.errors import JobRejected
from windlass.ids import JobId

if TYPE_CHECKING:
    from datetime import timedelta

    from windlass.app import sync
    from windlass.app.windlass import Windlass
    from windlass.worker.handlers import Handler

T_co = TypeVar("T_co", covariant=True)


class _WaitableReceipt(Receipt):
    """A receipt that knows the app which gave it."""

    _app: Any

    @classmethod
    def of(cls, receipt: Receipt, app: Any) -> Self:
        """The receipt, with a `wait` that asks `app`."""
        made = cls._make(receipt)
        made._app = app
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy in another process has no app to ask: it is a plain receipt there.
        return Receipt, tuple(self)

    def _require_job(self) -> JobId:
        if self.rejected:
            raise JobRejected(self.job_id, because=self.because)
        return self.job_id


class JobReceipt(_WaitableReceipt, Generic[T_co]):
    """A receipt in async code: `await receipt.wait("10s")` returns the job's result."""

    _app: "Windlass"

    async def wait(self, timeout: "str | timedelta | float" = "60s") -> T_co:
        """Wait for the job and return its result, as the type that its handler returns.

        Raises JobFailed if the job failed for good, JobCanceled if it was canceled, WaitTimeout if
        it has not ended in time (it continues), and JobRejected if there is no job to wait for.
        """
        result: T_co = await self._app.jobs.wait(self._require_job(), timeout)
        return result


class BlockingReceipt(_WaitableReceipt, Generic[T_co]):
    """A receipt in blocking code: `receipt.wait("10s")` returns the job's result."""

    _app: "sync.Windlass"

    def wait(self, timeout: "str | timedelta | float" = "60s") -> T_co:
        """Wait for the job and return its result, as the type that its handler returns.

        Raises JobFailed if the job failed for good, JobCanceled if it was canceled, WaitTimeout if
        it has not ended in time (it continues), and JobRejected if there is no job to wait for.
        """
        result: T_co = self._app.jobs.wait(self._require_job(), timeout)
        return result


class Results:
    """Results of ended jobs, as the types that this program's handlers return."""

    def __init__(self, app: "Windlass") -> None:
        self._app = app
        self._types: dict[Callable[..., Any], ResultType] = {}

    async def wait(
        self, id: JobId, timeout: "str | timedelta | float", scope: Scope = ALL_TENANTS
    ) -> Any:
        """Wait for a job, and return its result."""
        jobs = (await self._app.ready()).jobs
        return self.of(await jobs.wait(id, duration(timeout, option="timeout"), scope))

    def of(self, job: Job) -> Any:
        """The result of a completed job: as its handler's return type if the handler is declared
        here, else as stored."""
        handler = self._app.handlers.get(job.definition)
        if handler is None or handler.command is not None:
            return job.result
        return self._type_of(handler).decode(job.result, job=job.id)

    def _type_of(self, handler: "Handler") -> ResultType:
        known = self._types.get(handler.call)
        if known is None:
            known = ResultType(handler.call, truncates=handler.truncate_result)
            self._types[handler.call] = known
        return known
