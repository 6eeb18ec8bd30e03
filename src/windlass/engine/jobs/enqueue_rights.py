"""The one check before work is made or changed: may this principal enqueue this definition?

Enqueue, clone, retry, edit-and-retry, replace, run now, update, bulk operations, and saving, enabling
and firing a trigger all ask it. `by` None is the program that holds the database: it may.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from windlass.core.access.audit import Target
from windlass.core.access.grants import enqueue_refusal, replaceable_owner
from windlass.core.access.principal import Principal
from windlass.core.access.roles import Right
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import Job, NewJob
from windlass.core.triggers.trigger import Trigger
from windlass.errors import TriggerRightGone

if TYPE_CHECKING:
    from windlass.engine.access.authorization import Access
    from windlass.engine.definitions.definitions import Definitions

#: Saving a trigger is to enqueue whatever it will say; retry and the like have rights of their own.
_NEEDED: Mapping[str, str] = {Right.TRIGGERS_WRITE: Right.JOBS_ENQUEUE}


class EnqueueRights:
    """Takes the nouns that it asks as functions: without a principal it needs none."""

    def __init__(
        self, access: "Callable[[], Access]", definitions: "Callable[[], Definitions]"
    ) -> None:
        self._access = access
        self._definitions = definitions

    async def require(
        self, by: Principal | None, key: str, tenant: str, right: str, target: Target
    ) -> None:
        """Raise Forbidden unless `by` may let jobs of a definition run in a tenant by a right. The
        refusal names the `target`, and leaves an audit entry if the right is audited."""
        if by is None:
            return
        needed, table = _NEEDED.get(right, right), self._access().table

        def why_not(definition: Definition) -> str:
            return enqueue_refusal(by, definition, tenant, right=needed, table=table)

        definition = (await self._definitions().find([key])).get(key)
        if definition is None:
            # The error guesses what was meant: only at what `by` may enqueue.
            await self._definitions().get(key, visible=lambda each: not why_not(each))
        elif because := why_not(definition):
            await self._access().refuse(by, right, target, because=because)

    async def require_all(
        self, by: Principal | None, jobs: Iterable[Job | NewJob], right: str, target: Target
    ) -> None:
        """The same for the definitions and tenants of many jobs, each asked about once."""
        if by is None:
            return
        for key, tenant in sorted({(job.definition, job.tenant) for job in jobs}):
            await self.require(by, key, tenant, right, target)

    async def require_job(self, by: Principal | None, job: Job, right: str) -> None:
        """The same for a job that is there: to change it is to make work of its definition."""
        await self.require(by, job.definition, job.tenant, right, Target("job", str(job.id)))

    async def require_trigger(
        self, by: Principal | None, trigger: Trigger, right: str = Right.TRIGGERS_WRITE
    ) -> None:
        """The same for a trigger that is saved, enabled or run now."""
        target = Target("trigger", trigger.name)
        await self.require(by, trigger.definition, trigger.tenant, right, target)

    async def require_trigger_owner(self, trigger: Trigger, definition: Definition) -> None:
        """Raise TriggerRightGone unless who saved a trigger may still enqueue its definition.

        What is not restricted belongs to the tenant: its schedules outlive who saved them.
        """
        if trigger.saved_by is None or not definition.restricted:
            return
        trigger_owner = await self._access().principal_of_actor(trigger.saved_by)
        because = (
            f"{trigger.saved_by} is gone, disabled or revoked"
            if trigger_owner is None
            else enqueue_refusal(
                trigger_owner, definition, trigger.tenant, table=self._access().table
            )
        )
        if because:
            raise TriggerRightGone(trigger.name, saved_by=trigger.saved_by, because=because)

    def replaceable_owner(self, by: Principal | None, tenant: str) -> str | None:
        """Whose waiting jobs `by` may replace: None is everybody's, else only that actor's."""
        return None if by is None else replaceable_owner(by, tenant, table=self._access().table)


def trigger_owner(by: Principal | None) -> str | None:
    """How a trigger keeps whose right it was saved under: the user or token, which can be looked up
    again. None for a program, and for people whom an embedding program knows."""
    return None if by is None or by.id is None else by.actor
