"""Builds the jobs of triggers and hooks: rendered, checked, and keyed so that each is stored once."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from windlass.core.definitions.definition import Definition
from windlass.core.jobs.dead import fields_in_schema
from windlass.core.jobs.dedupe import check_app_key, payload_key
from windlass.core.jobs.models import NewJob
from windlass.core.leases.gates import gate_for
from windlass.core.payloads.json_text import dump_json, load_json
from windlass.core.payloads.schema_payload import definition_payload
from windlass.core.triggers import condition as conditions
from windlass.core.triggers import template
from windlass.core.triggers.condition import Condition
from windlass.core.triggers.template import Template
from windlass.core.triggers.trigger import Event, Trigger
from windlass.engine.definitions.definitions import Definitions
from windlass.engine.jobs.enqueue_rights import EnqueueRights
from windlass.engine.jobs.payload_encryption import Sealer
from windlass.errors import OptionInvalid, TemplateFailed, TriggerUnreadable
from windlass.ids import TenantId, TriggerId, new_job_id
from windlass.settings import Settings

_MOST_PARSED = 2000


class ParsedTrigger(NamedTuple):
    """A trigger's template and condition, parsed once per version of the trigger."""

    payload: Any
    condition: Any
    template: Template
    applies: Condition


class JobFactory:
    def __init__(
        self, definitions: Definitions, settings: Settings, rights: EnqueueRights, sealer: Sealer
    ) -> None:
        self._definitions = definitions
        self._rights = rights
        self._sealer = sealer
        self._limit = settings.limits.payload_bytes
        self._parsed: dict[TriggerId, ParsedTrigger] = {}

    async def check(self, trigger: Trigger) -> None:
        """Refuse a trigger whose definition is unknown or whose payload is visibly wrong."""
        definition = await self._definitions.get(trigger.definition)
        parsed = template.parse(trigger.payload)
        if parsed.is_constant:
            self._encode_payload(definition, parsed.render({}))

    def has_constant_key(self, trigger: Trigger) -> bool:
        """Check if all jobs of a trigger share a dedupe key: its own, else that of the payload."""
        if trigger.dedupe_key is not None:
            return template.parse(trigger.dedupe_key).is_constant
        return self._read(trigger).template.is_constant

    def applies(self, trigger: Trigger, data: Any) -> bool:
        """Check if an event's data meet the condition of a trigger."""
        if trigger.unreadable:
            raise TriggerUnreadable(trigger.name, trigger.unreadable)
        return self._read(trigger).applies.holds(data)

    def failing(self, trigger: Trigger, data: Any) -> str:
        """The part of the condition that does not hold, in words; empty if it is met."""
        return self._read(trigger).applies.failing(data)

    async def payload(self, trigger: Trigger, data: Any) -> Any:
        """The checked payload of a job for an event with these data."""
        definition = await self._definitions.get(trigger.definition)
        _dedupe_key(trigger, _event_variables(data))
        return load_json(self._text(trigger, definition, _event_variables(data)))

    async def at(self, trigger: Trigger, due_at: datetime) -> NewJob:
        """Build the job for a due time. However often it is built, it is stored once.

        Here and in `after`: TriggerRightGone if the person who saved the trigger may no longer
        enqueue.
        """
        await self._check_trigger_owner(trigger)
        job = await self._build_job(trigger, _schedule_variables(trigger, due_at))
        return await self._seal(
            job._replace(
                source="schedule",
                source_ref=str(trigger.id),
                trigger_due_at=due_at,
                idempotency_key=f"trigger {trigger.id} {due_at.isoformat()}",
            )
        )

    async def now(self, trigger: Trigger, now: datetime, created_by: str | None) -> NewJob:
        """Build a job of a schedule that a person runs by hand; each call is a new job."""
        job = await self._build_job(trigger, _schedule_variables(trigger, now))
        return job._replace(source_ref=str(trigger.id), created_by=created_by)

    async def after(self, trigger: Trigger, event: Event) -> NewJob:
        """Build the job for an event. However often it is built, it is stored once."""
        await self._check_trigger_owner(trigger)
        job = await self._build_job(trigger, _event_variables(event.data))
        return await self._seal(_event_job(event, str(trigger.id), job))

    async def on_dead_letter(self, event: Event) -> NewJob | None:
        """Build the on_dead_letter job of a dead-lettered job's definition; None if it has no hook.

        Its payload is the part of the event's data that the hook's definition takes.
        """
        failed = await self._definitions.get(event.data["definition"])
        if failed.on_dead_letter is None:
            return None
        hook = await self._definitions.get(failed.on_dead_letter)
        text = self._encode_payload(
            hook, fields_in_schema(load_json(hook.payload_schema), event.data)
        )
        return await self._seal(_event_job(event, "hook", _job(hook, event.tenant, text)))

    async def _check_trigger_owner(self, trigger: Trigger) -> None:
        definition = await self._definitions.get(trigger.definition)
        await self._rights.require_trigger_owner(trigger, definition)

    async def _build_job(self, trigger: Trigger, about: Mapping[str, Any]) -> NewJob:
        definition = await self._definitions.get(trigger.definition)
        text = self._text(trigger, definition, about)
        window = trigger.dedupe_window_seconds
        key = _dedupe_key(trigger, about)
        if key is None and window is not None:
            key = payload_key(definition.key, load_json(text))
        return _job(definition, trigger.tenant, text)._replace(
            max_attempts=trigger.max_attempts or definition.max_attempts,
            delay=None
            if trigger.delay_seconds is None
            else timedelta(seconds=trigger.delay_seconds),
            dedupe_key=key,
            dedupe_window=None if window is None else timedelta(seconds=window),
            trigger_id=trigger.id,
        )

    async def _seal(self, job: NewJob) -> NewJob:
        return self._sealer.seal(job, await self._definitions.get(job.definition))

    def _text(self, trigger: Trigger, definition: Definition, about: Mapping[str, Any]) -> str:
        return self._encode_payload(definition, self._read(trigger).template.render(about))

    def _encode_payload(self, definition: Definition, payload: Any) -> str:
        model = definition_payload(definition, self._limit)
        return model.write(payload or {}, load_json(definition.default_payload))

    def _read(self, trigger: Trigger) -> ParsedTrigger:
        known = self._parsed.get(trigger.id)
        if known and known[:2] == (trigger.payload, trigger.condition):
            return known
        read = ParsedTrigger(
            trigger.payload,
            trigger.condition,
            template.parse(trigger.payload),
            conditions.parse({} if trigger.condition is None else trigger.condition),
        )
        if len(self._parsed) >= _MOST_PARSED:
            self._parsed.clear()
        self._parsed[trigger.id] = read
        return read


def _dedupe_key(trigger: Trigger, about: Mapping[str, Any]) -> str | None:
    """The rendered dedupe key of a trigger's job; TemplateFailed if it is not a valid key."""
    if trigger.dedupe_key is None:
        return None
    filled = _key_template(trigger.dedupe_key).render(about)
    if isinstance(filled, bool | int | float):
        filled = dump_json(filled)
    try:
        return check_app_key("dedupe_key", filled)
    except OptionInvalid as error:
        raise TemplateFailed(f"it cannot be a dedupe key: {error.errors[0].message}") from None


@lru_cache(maxsize=1000)
def _key_template(text: str) -> Template:
    return template.parse(text)


def _event_variables(data: Any) -> Mapping[str, Any]:
    return {"event": data if isinstance(data, Mapping) else {}}


def _schedule_variables(trigger: Trigger, due_at: datetime) -> Mapping[str, Any]:
    return {"schedule": {"name": trigger.name, "due_at": due_at.isoformat()}}


def _job(definition: Definition, tenant: TenantId, payload: str) -> NewJob:
    return NewJob(
        id=new_job_id(),
        definition=definition.key,
        payload=payload,
        tenant=tenant,
        queue=definition.queue,
        priority=definition.priority,
        max_attempts=definition.max_attempts,
        on_parent_failure=definition.on_parent_failure,
        gate=gate_for(definition, tenant, payload),
        runs_after=tuple(definition.runs_after),
    )


def _event_job(event: Event, whom: str, job: NewJob) -> NewJob:
    """The job of an event for a trigger or a hook; its keys name both."""
    return job._replace(
        source="event",
        source_ref=f"{event.id} {whom}",
        correlation_id=event.correlation_id or str(event.id),
        idempotency_key=f"event {event.id} {whom}",
        metadata=f'{{"event_depth":{event.depth}}}',
    )
