"""Enqueue on behalf of a caller of the API: who may enqueue what, for whom, after which jobs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from windlass.core.access.principal import Principal
from windlass.core.access.roles import Right
from windlass.core.jobs.models import Job, NewJob, OnDuplicate, Receipt, Scope
from windlass.ids import parse_job_id

# Routes import the values below for commands that only read; those need none of these.
if TYPE_CHECKING:
    from windlass.engine.access.audit import Audit
    from windlass.engine.access.authorization import Access
    from windlass.engine.jobs.enqueue_rights import EnqueueRights
    from windlass.engine.jobs.jobs import Jobs


class Requester(NamedTuple):
    """The caller of a request. Without a name, it is the program itself."""

    principal: Principal
    #: Whose right to enqueue is checked; None is not checked.
    by: Principal | None
    name: str | None
    #: True if jobs of others may be read, and so named as parents.
    reads_all: bool
    scope: Scope
    request_id: str


class RequestedJob(NamedTuple):
    """A job to enqueue, and the options it is enqueued with; a tenant is always among them."""

    definition: str
    payload: Mapping[str, Any]
    options: Mapping[str, Any]
    #: The key of the request, which is the job's if that has none of its own.
    key: str | None = None


class CheckedRequest(NamedTuple):
    """A job that the requester may enqueue; `on_behalf` if it is another's."""

    job: NewJob
    on_duplicate: OnDuplicate
    on_behalf: bool
    key: str | None


class EnqueuedJob(NamedTuple):
    """A receipt, and the job behind it if the requester may see that."""

    receipt: Receipt
    job: Job | None


class EnqueueRequests:
    """Check first, then store: a check alone is a dry run."""

    def __init__(
        self, jobs: "Jobs", access: "Access", audit: "Audit", rights: "EnqueueRights"
    ) -> None:
        self._jobs = jobs
        self._access = access
        self._audit = audit
        self._rights = rights

    async def check(self, asked: RequestedJob, requester: Requester) -> CheckedRequest:
        """The job as it would be stored; raises if it cannot be, or not by this requester."""
        from windlass.core.access.audit import Target
        from windlass.core.jobs.options import OptionSet

        options = dict(asked.options)
        tenant, behalf = options["tenant"], options.pop("created_by", None)
        # First of all: a caller that may not enqueue it must not learn what would be valid.
        if requester.by is not None:
            await self._rights.require(
                requester.by, asked.definition, tenant, Right.JOBS_ENQUEUE, Target("job")
            )
        options["source_ref"] = requester.request_id
        if behalf is not None:
            options["created_by"] = await self._access.allow_enqueue_for(
                requester.principal, behalf, tenant=tenant, request_id=requester.request_id
            )
        elif requester.name is not None:
            options["created_by"] = requester.name
        if not requester.reads_all:
            # Another's job is no parent: it is reported like one that does not exist.
            parents = [id for each in options.get("after", ()) if (id := parse_job_id(each))]
            await self._jobs.check_parents(parents, Scope.of(tenant), created_by=requester.name)
        job, on_duplicate = await self._jobs.prepare(
            asked.definition, asked.payload, OptionSet({}).merged_with(options)
        )
        on_behalf = behalf is not None and requester.name is not None
        return CheckedRequest(job, on_duplicate, on_behalf, asked.key)

    async def enqueue(self, checked: CheckedRequest, requester: Requester) -> EnqueuedJob:
        """Store a job. KeyReused if its idempotency key belongs to another definition or payload."""
        receipt = await self._jobs.submit(
            checked.job, on_duplicate=checked.on_duplicate, by=requester.by
        )
        if checked.on_behalf:
            await self._record_on_behalf(checked, requester, str(receipt.job_id))
        if receipt.status == "rejected":
            return EnqueuedJob(receipt, None)
        stored = await self._jobs.get(receipt.job_id, requester.scope)
        if receipt.status == "existing" and checked.key is not None:
            self._jobs.check_repeated(checked.job, stored, key=checked.key)
        visible = requester.reads_all or stored.created_by == requester.name
        return EnqueuedJob(receipt, stored if visible else None)

    async def enqueue_batch(
        self, checked: Sequence[CheckedRequest], requester: Requester
    ) -> list[Receipt]:
        """Store jobs in one transaction; BatchRefused, and none is stored, if one is refused."""
        from windlass.core.jobs.options import PreparedJob

        prepared = [PreparedJob(each.job, each.on_duplicate) for each in checked]
        receipts = await self._jobs.submit_together(prepared, by=requester.by)
        for each, receipt in zip(checked, receipts, strict=True):
            if each.on_behalf and receipt.status == "created":
                await self._record_on_behalf(each, requester, str(receipt.job_id))
        return receipts

    async def _record_on_behalf(
        self, checked: CheckedRequest, requester: Requester, id: str
    ) -> None:
        """Leave an audit entry of a job that was enqueued for somebody else."""
        from windlass.core.access.audit import Target

        await self._audit.record(
            requester.principal,
            Right.JOBS_ENQUEUE_FOR,
            Target("job", id),
            tenant=checked.job.tenant,
            after={"created_by": checked.job.created_by, "definition": checked.job.definition},
            request_id=requester.request_id,
        )
