"""Triage of what failed for good: by cause, one by one, or edited."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from windlass.core.access.audit import Target
from windlass.core.access.principal import Principal
from windlass.core.access.roles import Right
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.dead import DeadGroup, GroupChange, PayloadEdit, edit_message
from windlass.core.jobs.models import ALL_TENANTS, Job, JobPage, Scope
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState, Verb
from windlass.core.leases.gates import gate_for
from windlass.core.payloads.json_text import dump_json, load_json
from windlass.core.payloads.schema_payload import definition_payload
from windlass.engine.jobs.enqueue_rights import EnqueueRights
from windlass.engine.monitoring.dead_groups import DeadGroupDetails
from windlass.engine.nudges import Nudges
from windlass.errors import DuplicateJob, OptionInvalid
from windlass.ids import JobId
from windlass.settings import Settings
from windlass.storage.storage import Storage

if TYPE_CHECKING:
    from windlass.engine.definitions.definitions import Definitions
    from windlass.engine.jobs.jobs import Jobs
    from windlass.engine.jobs.payload_encryption import Sealer

#: How many jobs of a group are changed in one transaction.
_BATCH = 100
_MOST_GROUPS = 500
_MOST_JOBS = 100_000


class DeadLetters:
    def __init__(
        self,
        storage: Storage,
        jobs: "Callable[[], Jobs]",
        definitions: "Callable[[], Definitions]",
        nudges: Nudges,
        settings: Settings,
        rights: EnqueueRights,
        sealer: "Callable[[], Sealer]",
    ) -> None:
        self._storage = storage
        self._jobs = jobs
        self._definitions = definitions
        self._nudges = nudges
        self._rights = rights
        self._limit = settings.limits.payload_bytes
        self._sealer = sealer
        self._details = DeadGroupDetails(storage, definitions)

    async def groups(
        self,
        *,
        definition: str | None = None,
        muted: bool = False,
        recovered: bool | None = None,
        limit: int = 50,
        scope: Scope = ALL_TENANTS,
    ) -> Sequence[DeadGroup]:
        """Dead-lettered jobs by definition and cause, the cause seen last first; with `muted` also
        those that are muted. `recovered` keeps only groups that have, or have not.

        Of very many dead-lettered jobs of a definition the newest 50,000 are counted.
        """
        _check_limit(limit, _MOST_GROUPS)
        counts = await self._storage.jobs.state_counts(scope)
        failing = {str(row["definition"]) for row in counts if row["dead_letter"] > 0}
        wanted = failing if definition is None else failing & {definition}
        groups = [
            group
            for key in sorted(wanted)
            for group in await self._storage.jobs.dead_groups(scope, key, muted=muted, most=limit)
        ]
        groups.sort(key=lambda group: group.last_at, reverse=True)
        if recovered is None:
            return await self._details.add(groups[:limit], scope)
        detailed = await self._details.add(groups, scope)
        return [group for group in detailed if group.recovered is recovered][:limit]

    async def list(
        self,
        *,
        definition: str | None = None,
        fingerprint: str | None = None,
        created_by: str | None = None,
        after: JobId | None = None,
        limit: int = 50,
        scope: Scope = ALL_TENANTS,
    ) -> JobPage:
        """Dead-lettered jobs newest first, of a definition, a cause or who made them; `after` goes
        on from a page's `next`."""
        chosen = JobQuery.of(
            states=[JobState.DEAD_LETTER],
            definition=definition,
            fingerprint=fingerprint,
            created_by=created_by,
        )
        return await self._storage.jobs.page(scope, chosen, after=after, limit=limit)

    async def retry(
        self,
        id: JobId | str,
        *,
        actor: str | None = None,
        scope: Scope = ALL_TENANTS,
        by: Principal | None = None,
    ) -> Job:
        """Put one job in line again, due at once, with fresh attempts."""
        return await self._jobs().retry(id, scope=scope, actor=actor, by=by)

    async def retry_group(
        self,
        definition: str,
        fingerprint: str,
        *,
        limit: int = 1000,
        actor: str | None = None,
        scope: Scope = ALL_TENANTS,
        by: Principal | None = None,
    ) -> GroupChange:
        """Retry the jobs of a group, the newest first and at most `limit`.

        A job whose dedupe key an open job has is skipped and stays where it is.
        """
        target = Target("dead", f"{definition}/{fingerprint}")

        async def retry(jobs: Sequence[Job]) -> Sequence[bool]:
            await self._rights.require_all(by, jobs, Right.JOBS_RETRY, target)
            ids = [job.id for job in jobs]
            answers = await self._storage.jobs.retry_many(scope, ids, actor=actor)
            self._nudges.nudge_all()
            return [answer == "queued" for answer in answers]

        return await self._each(retry, definition, fingerprint, limit, scope)

    async def edit_retry(
        self,
        id: JobId | str,
        payload: Mapping[str, Any],
        *,
        actor: str | None = None,
        scope: Scope = ALL_TENANTS,
        by: Principal | None = None,
    ) -> Job:
        """Retry a dead-lettered job with another payload, which replaces the old one.

        PayloadInvalid, with nothing changed, if it does not fit the definition. The job's history
        tells who edited it and which fields, not their values.
        """
        if not isinstance(payload, Mapping):
            raise OptionInvalid("payload", payload, allowed="an object of names and values")
        job = await self._jobs().get(id, scope)
        await self._rights.require_job(by, job, Right.JOBS_RETRY)
        while job.state is JobState.DEAD_LETTER:
            edit = self._edit(job, await self._definitions().get(job.definition), payload, actor)
            answer = await self._storage.jobs.retry(scope, job.id, actor=actor, edit=edit)
            if answer == "duplicate":
                key = edit.dedupe_key or job.dedupe_key
                raise DuplicateJob(job.id, because=f"dedupe key {key}")
            job = await self._jobs().get(job.id, scope)
            if answer is not None:
                self._nudges.nudge([job.queue])
                return job
            # Somebody else was quicker; should it have failed again since, it is edited as it is now.
        return await self._jobs().refuse(job, Verb.RETRY, allowed=[JobState.DEAD_LETTER])

    async def discard(self, id: JobId | str, *, scope: Scope = ALL_TENANTS) -> None:
        """Delete one job for good."""
        await self._jobs().discard(id, scope=scope, only=JobState.DEAD_LETTER)

    async def discard_group(
        self, definition: str, fingerprint: str, *, limit: int = 1000, scope: Scope = ALL_TENANTS
    ) -> GroupChange:
        """Delete the jobs of a group for good, the newest first and at most `limit`.

        A job that another one waits for is skipped.
        """

        async def discard(jobs: Sequence[Job]) -> Sequence[bool]:
            return await self._storage.jobs.discard_many(scope, [job.id for job in jobs])

        return await self._each(discard, definition, fingerprint, limit, scope)

    def _edit(
        self, job: Job, definition: Definition, payload: Mapping[str, Any], actor: str | None
    ) -> PayloadEdit:
        from windlass.engine.jobs.payload_encryption import SealedText

        text = definition_payload(definition, self._limit).encode((), payload)
        before = self._jobs().opened(job).payload
        keyed = partial(self._sealer().dedupe_key, definition, job.tenant)
        by_payload = job.dedupe_key is not None and job.dedupe_key == keyed(dump_json(before))
        sealed = self._sealer().seal_text(definition, job.tenant, text) or SealedText(text, text)
        return PayloadEdit(
            payload=sealed.text,
            message=edit_message(before, load_json(text), actor),
            token=job.lease_token,
            dedupe_key=keyed(text) if by_payload else None,
            gate=gate_for(definition, job.tenant, sealed.digested),
        )

    async def _each(
        self,
        change: Callable[[Sequence[Job]], Awaitable[Sequence[bool]]],
        definition: str,
        fingerprint: str,
        limit: int,
        scope: Scope,
    ) -> GroupChange:
        _check_limit(limit, _MOST_JOBS)
        changed = seen = 0
        after: JobId | None = None
        while seen < limit:
            page = await self.list(
                definition=definition,
                fingerprint=fingerprint,
                after=after,
                limit=min(_BATCH, limit - seen),
                scope=scope,
            )
            # In the order of their ids, so that two who do this seldom wait for each other.
            jobs = sorted(page.jobs, key=lambda job: job.id)
            if jobs:
                changed += sum(await change(jobs))
            seen += len(jobs)
            after = page.next
            if after is None:
                return GroupChange(changed, seen - changed, more=False)
        return GroupChange(changed, seen - changed, more=True)


def _check_limit(limit: int, most: int) -> None:
    if not 1 <= limit <= most:
        raise OptionInvalid("limit", limit, allowed=f"1 to {most:,}")
