"""Dry run of a trigger: tells whether an event would make a job, and stores nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.engine.triggers.events import Events
from windlass.engine.triggers.job_factory import JobFactory
from windlass.engine.triggers.triggers import Triggers
from windlass.errors import OptionInvalid, WindlassError
from windlass.errors.wording import quoted
from windlass.ids import EventId


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerDryRun:
    """Whether a trigger would make a job, and with which `payload`; if not, `because` says why.
    An `error` is what would be noted on the trigger."""

    matches: bool
    because: str = ""
    payload: Any = None
    error: WindlassError | None = None


class TriggerDryRuns:
    def __init__(self, triggers: Triggers, events: Events, job_factory: JobFactory) -> None:
        self._triggers = triggers
        self._events = events
        self._job_factory = job_factory

    async def test(
        self,
        id: str,
        *,
        event: EventId | str | None = None,
        data: Mapping[str, Any] | None = None,
        scope: Scope = ALL_TENANTS,
    ) -> TriggerDryRun:
        """What a trigger would do with an event that was emitted, or with data. Stores nothing."""
        if (event is None) == (data is None):
            raise OptionInvalid("test", id, allowed="either an event or data")
        trigger = await self._triggers.get(id, scope)
        if trigger.type != "event":
            raise OptionInvalid("trigger", trigger.name, allowed="one by event")
        happened: Any = data
        if event is not None:
            found = await self._events.get(event, scope)
            happened = found.data
            if found.name != trigger.event_name:
                because = f"it waits for {quoted(trigger.event_name)}, not {quoted(found.name)}"
                return TriggerDryRun(matches=False, because=because)
            if found.tenant != trigger.tenant:
                return TriggerDryRun(matches=False, because="the event is another tenant's")
        if failing := self._job_factory.failing(trigger, happened):
            return TriggerDryRun(matches=False, because=f"it does not hold that {failing}")
        try:
            payload = await self._job_factory.payload(trigger, happened)
        except WindlassError as error:
            return TriggerDryRun(matches=True, because="its job cannot be made", error=error)
        if not trigger.enabled:
            return TriggerDryRun(matches=False, because="the trigger is disabled", payload=payload)
        return TriggerDryRun(matches=True, payload=payload)
