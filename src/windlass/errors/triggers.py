"""4xxx: rules that make jobs — triggers, schedules, events."""

from collections.abc import Collection, Mapping, Sequence

from windlass.errors.base import FieldError, WindlassError
from windlass.errors.wording import did_you_mean, listed, quoted


class TriggerNotFound(WindlassError):
    """There is no trigger with this id or name, or it belongs to another tenant."""

    code = "WL4101"

    def __init__(self, id: str, *, known: Collection[str] = ()) -> None:
        self.id = id
        super().__init__(
            f"no schedule or trigger has the name or id {quoted(id)}.",
            reason="It may have been deleted, or belong to another tenant.",
            hint=did_you_mean(id, known)
            + "`windlass schedules list` shows those by time, `windlass triggers list` those by event.",
        )


class TriggerExists(WindlassError):
    """The tenant has another trigger of this name."""

    code = "WL4102"

    def __init__(self, name: str, *, tenant: str) -> None:
        self.name = name
        super().__init__(
            f"{quoted(name)} cannot be saved: there is another trigger of that name.",
            reason=f"Names are unique within a tenant, here {quoted(tenant)}.",
            hint="Choose another name, or change the trigger that has it.",
        )


class TriggerFieldsMixed(WindlassError):
    """A trigger was given fields that only triggers of another type have.

    Each type has its own: `cron` and `timezone`; `interval_seconds`; `at`; `run_once`; `event_name`
    and `condition`. Only triggers by time have `misfire` and `overlap`.
    """

    code = "WL4104"

    def __init__(self, type: str, strange: Mapping[str, str]) -> None:
        self.type = type
        self.fields = tuple(strange)
        super().__init__(
            f"a trigger of type {type} has no {listed(self.fields)}.",
            reason="Each type of trigger has fields of its own.",
            hint="Leave out what belongs to another type, or give that `type`.",
            errors=[
                FieldError(
                    f"/{name}", f"only a trigger of {owner} has it; this is one of type {type}"
                )
                for name, owner in strange.items()
            ],
        )


class TriggerUnreadable(WindlassError):
    """A trigger's row has fields that this Windlass cannot read.

    It was edited by hand, or by a newer version. The trigger does not fire and stays due; it is
    tried again every minute, and at once when the fields are given again.
    """

    code = "WL2220"

    def __init__(self, trigger: str, fields: Sequence[str]) -> None:
        self.trigger = trigger
        self.fields = tuple(fields)
        super().__init__(
            f"the trigger {quoted(trigger)} cannot be read.",
            reason=f"The stored {listed(fields)} cannot be read by this Windlass.",
            hint=f"Give it its {listed(fields)} again, disable or delete it; "
            "or upgrade this process, if a newer Windlass wrote it.",
        )


class TriggerRightGone(WindlassError):
    """The trigger's owner may no longer enqueue its definition, so the trigger is disabled."""

    code = "WL4103"

    def __init__(self, name: str, *, saved_by: str, because: str) -> None:
        self.name = name
        self.saved_by = saved_by
        super().__init__(
            f"trigger {quoted(name)} was stopped: the right it was saved under is gone.",
            reason=f"{because[:1].upper()}{because[1:]}.",
            hint="Enable it with an account that may enqueue its definition: "
            "`windlass triggers enable`.",
        )


class EventNotFound(WindlassError):
    """There is no event with this id, or it belongs to another tenant."""

    code = "WL4201"

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__(
            f"no event {quoted(id)}.",
            reason="It may belong to another tenant, or have been pruned.",
            hint="`windlass events list` shows the latest events.",
        )


class EventChainTooLong(WindlassError):
    """An event was emitted by the job of an event, emitted by the job of an event … too often."""

    code = "WL4202"

    def __init__(self, name: str, *, most: int) -> None:
        self.name = name
        super().__init__(
            f"{quoted(name)} cannot be emitted: it would be event {most + 2} of its chain.",
            reason=f"A handler emits, and that leads to a job whose handler emits: {most + 1} times.",
            hint="Look for a trigger whose job emits the event it waits for; a condition ends it.",
        )
