"""What a trigger would do with an event, without doing it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.engine.triggers.events import Events
from windlass.engine.triggers.job_factory import Maker
from windlass.engine.triggers.triggers import Triggers
from windlass.errors import OptionInvalid, WindlassError
from windlass.errors.wording import quoted
from windlass.ids import EventId


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Whether a trigger would make a job, and with which `payload`; if not, `because` says why.
    An `error` is what would be noted on the trigger."""

    matches: bool
    because: str = ""
    payload: Any = None
    error: WindlassError | None = None


class Trials:
    def __init__(self, triggers: Triggers, events: Events, maker: Maker) -> None:
        self._triggers = triggers
        self._events = events
        self._maker = maker

    async def test(
        self,
        id: str,
        *,
        event: EventId | str | None = None,
        data: Mapping[str, Any] | None = None,
        scope: Scope = ALL_TENANTS,
    ) -> Trial:
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
                return Trial(matches=False, because=because)
            if found.tenant != trigger.tenant:
                return Trial(matches=False, because="the event is another tenant's")
        if failing := self._maker.failing(trigger, happened):
            return Trial(matches=False, because=f"it does not hold that {failing}")
        try:
            payload = await self._maker.payload(trigger, happened)
        except WindlassError as error:
            return Trial(matches=True, because="its job cannot be made", error=error)
        if not trigger.enabled:
            return Trial(matches=False, because="the trigger is disabled", payload=payload)
        return Trial(matches=True, payload=payload)
