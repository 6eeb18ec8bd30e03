"""Options of one enqueue, checked when they are given, and the jobs made with them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypedDict
from uuid import UUID

from windlass.core.definitions.definition import Definition
from windlass.core.definitions.foreign_names import ENQUEUE_OPTIONS
from windlass.core.durations import duration
from windlass.core.enum_options import attempts, one_of
from windlass.core.instants import instant
from windlass.core.jobs.change import metadata_text
from windlass.core.jobs.dedupe import check_app_key, check_name, check_stored, payload_key
from windlass.core.jobs.models import (
    DEFAULT_TENANT,
    Job,
    NewJob,
    OnDuplicate,
    ParentFailure,
    Receipt,
    Source,
)
from windlass.core.jobs.priority import priority as checked_priority
from windlass.core.leases.gates import gate_for, own_gate
from windlass.core.payloads.json_text import load_json
from windlass.errors import OptionInvalid
from windlass.errors.wording import nearest
from windlass.ids import JobId, QueueName, TenantId, new_job_id, parse_job_id

Duration = str | timedelta | float
Parent = Job | NewJob | Receipt | UUID | str

_LONGEST_TEXT = 191


class EnqueueOptions(TypedDict, total=False):
    """The names `.options(...)` takes."""

    tenant: str
    delay: Duration
    at: datetime
    expires: Duration
    queue: str
    priority: int | str
    max_attempts: int
    timeout: Duration
    limit_key: str
    dedupe_key: str
    dedupe_window: Duration
    idempotency_key: str
    on_duplicate: OnDuplicate
    max_wait: Duration
    after: Sequence[Parent]
    on_parent_failure: ParentFailure
    hold: bool
    correlation_id: str
    source: Source
    source_ref: str
    created_by: str
    metadata: Mapping[str, Any]
    tx: object


class InheritedOptions(TypedDict, total=False):
    """Options that a job or an event takes over from the job whose handler makes it."""

    tenant: str
    correlation_id: str


_NAMES = frozenset(EnqueueOptions.__annotations__)


class PreparedJob(NamedTuple):
    """A valid job to store, and what to do when an equal one exists."""

    job: NewJob
    on_duplicate: OnDuplicate


@dataclass(frozen=True, slots=True)
class OptionSet:
    """The options of an enqueue, and how a job is made with them."""

    given: EnqueueOptions

    def merged_with(self, more: Mapping[str, Any]) -> "OptionSet":
        """These options with others on top. An unknown name is an error."""
        for name in more:
            if name not in _NAMES:
                if (ours := ENQUEUE_OPTIONS.get(name)) is not None:
                    problem = "Windlass has no option of this name."
                    raise OptionInvalid("option", name, allowed=ours, problem=problem)
                near = nearest(name, _NAMES)
                allowed = f"one of {', '.join(sorted(_NAMES))}"
                raise OptionInvalid(
                    "option",
                    name,
                    allowed=allowed,
                    problem=f"no option has this name; did you mean {near}?" if near else "",
                )
        return OptionSet({**self.given, **more})  # type: ignore[typeddict-item]  # names were checked

    def with_defaults_from(self, job: InheritedOptions) -> "OptionSet":
        """These options, and where they leave it open the tenant and correlation id of a job."""
        return OptionSet({**job, **self.given}) if job else self

    def on_duplicate(self, definition: Definition) -> OnDuplicate:
        """What to do when an equal job exists: by the option, else by the definition."""
        chosen: OnDuplicate = self._choice("on_duplicate", OnDuplicate, definition.on_duplicate)
        if chosen == "replace" and self.given.get("idempotency_key") is not None:
            raise OptionInvalid(
                "on_duplicate", chosen, allowed="existing or error with an idempotency key"
            )
        return chosen

    @property
    def tx(self) -> object:
        """The caller's transaction to store the job in; None for one of our own."""
        return self.given.get("tx")

    def check_makeable(self) -> None:
        """Refuse what a job that is only made would lose."""
        for name in ("tx", "on_duplicate"):
            if name in self.given:
                raise OptionInvalid(
                    name,
                    type(self.tx).__name__ if name == "tx" else self.given["on_duplicate"],
                    allowed=f"{name} to enqueue_many: it is not part of a job",
                )

    def job(self, definition: Definition, payload: str) -> NewJob:
        """The job to store: what the options leave open comes from the definition."""
        return self.stamp(definition)(payload)

    def stamp(self, definition: Definition) -> Callable[[str], NewJob]:
        """Makes jobs of payloads; what they have in common is looked at once."""
        rest = self._model(definition)[3:]
        dedupes = definition.dedupe == "payload" and "dedupe_key" not in self.given
        keyed = definition.limit_key is not None and "limit_key" not in self.given
        if not dedupes and not keyed:
            return lambda payload: NewJob(new_job_id(), definition.key, payload, *rest)

        def by_payload(payload: str) -> NewJob:
            made = NewJob(new_job_id(), definition.key, payload, *rest)
            if dedupes:
                made = made._replace(dedupe_key=payload_key(definition.key, load_json(payload)))
            return made._replace(gate=gate_for(definition, made.tenant, payload)) if keyed else made

        return by_payload

    def _model(self, definition: Definition) -> NewJob:
        given = self.given
        tenant = TenantId(check_name("tenant", given.get("tenant", DEFAULT_TENANT)))
        made = NewJob(
            id=JobId(UUID(int=0)),
            definition=definition.key,
            payload="",
            tenant=tenant,
            queue=QueueName(check_name("queue", given["queue"]))
            if "queue" in given
            else definition.queue,
            priority=checked_priority(given["priority"])
            if "priority" in given
            else definition.priority,
            max_attempts=attempts(given["max_attempts"])
            if "max_attempts" in given
            else definition.max_attempts,
            timeout_seconds=self._seconds("timeout"),
            delay=self._duration("delay"),
            due_at=_due(given),
            expires=self._duration("expires"),
            dedupe_key=self._key("dedupe_key"),
            dedupe_window=self._window(definition),
            idempotency_key=self._key("idempotency_key"),
            after=_parents(given.get("after", ())),
            on_parent_failure=self._choice(
                "on_parent_failure", ParentFailure, definition.on_parent_failure
            ),
            held=bool(given.get("hold", False)),
            correlation_id=self._key("correlation_id"),
            source=self._choice("source", Source, "manual"),
            source_ref=self._stored("source_ref"),
            created_by=self._stored("created_by"),
            metadata=_metadata(given.get("metadata")),
            gate=own_gate(definition, tenant, self._key("limit_key")),
            max_wait=self._duration("max_wait"),
            runs_after=tuple(definition.runs_after),
        )
        return made._replace(delay=None) if made.due_at else made

    def _choice(self, option: str, words: object, default: Any) -> Any:
        return one_of(option, self.given.get(option), words) if option in self.given else default

    def _key(self, option: str) -> str | None:
        value = self.given.get(option)
        return None if value is None else check_app_key(option, value, _LONGEST_TEXT)

    def _stored(self, option: str) -> str | None:
        value = self.given.get(option)
        return None if value is None else check_stored(option, value, _LONGEST_TEXT)

    def _duration(self, option: str) -> timedelta | None:
        value = self.given.get(option)
        return None if value is None else duration(value, option=option)  # type: ignore[arg-type]  # a Duration by the option's name

    def _seconds(self, option: str) -> float | None:
        length = self._duration(option)
        if length is not None and length <= timedelta():
            raise OptionInvalid(option, self.given.get(option), allowed="longer than nothing")
        return None if length is None else length.total_seconds()

    def _window(self, definition: Definition) -> timedelta | None:
        if "dedupe_window" in self.given:
            return self._duration("dedupe_window")
        seconds = definition.dedupe_window_seconds
        return None if seconds is None else timedelta(seconds=seconds)


def _due(given: EnqueueOptions) -> datetime | None:
    at: object = given.get("at")
    if at is None:
        return None
    due = instant("at", at)
    if given.get("delay") is not None:
        raise OptionInvalid("at", due.isoformat(), allowed="either a delay or a time, not both")
    return due


def _parents(given: object) -> tuple[JobId, ...]:
    if isinstance(given, str | NewJob | Receipt) or not isinstance(given, Sequence):
        raise OptionInvalid("after", given, allowed="a list of jobs, receipts or whole job ids")
    return tuple(dict.fromkeys(map(_parent, given)))


def _parent(parent: object) -> JobId:
    match parent:
        case Job() | NewJob():
            return parent.id
        case Receipt():
            return parent.job_id
        case UUID():
            return JobId(parent)
        case str() if found := parse_job_id(parent):
            return found
        case _:
            raise OptionInvalid("after", parent, allowed="jobs, receipts or whole job ids")


def _metadata(value: object) -> str | None:
    text = None if value is None else metadata_text(value)
    return text if value else None
