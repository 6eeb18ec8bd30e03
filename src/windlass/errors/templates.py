"""Errors in declarations: payload templates, conditions, commands."""

from collections.abc import Sequence

from windlass.errors.base import FieldError, WindlassError
from windlass.errors.wording import quoted, sentence


class CommandTemplateInvalid(WindlassError):
    """A command is declared in a way that cannot work or would not be safe."""

    code = "WL2110"

    def __init__(self, definition: str, errors: Sequence[FieldError]) -> None:
        self.definition = definition
        super().__init__(
            f"the command of {quoted(definition)} cannot be used.",
            reason=_reasons(errors),
            hint='Declare it like {"argv": ["tool", "sync", "{folder}"], '
            '"options": {"depth": "--depth"}}; the fields are those of the payload schema.',
            errors=errors,
        )


class ArgumentRefused(WindlassError):
    """A value cannot be passed to a command: it would be taken for an option, or it is no text, too
    long, or one too many. The command was not started; another attempt would end the same way."""

    code = "WL2111"

    def __init__(self, definition: str, problem: str, *, pointer: str = "") -> None:
        self.definition = definition
        self.pointer = pointer
        error = FieldError(pointer, problem)
        super().__init__(
            f"the command of {quoted(definition)} was not started.",
            reason=_reasons([error]),
            hint="Change the payload, or declare the field as an option: its value then follows "
            "its flag and can be any text.",
            errors=[error],
        )


class TemplateInvalid(WindlassError):
    """A payload template cannot be used: a placeholder is not written as it should be, or there is
    too much of it."""

    code = "WL4501"

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__(
            "the payload template cannot be used.",
            reason=_reasons(errors),
            hint="Write placeholders like {{event.folder_path}} or {{schedule.due_at}}, "
            "and {{{{ for two plain braces.",
            errors=errors,
        )


class TemplateMissing(WindlassError):
    """A placeholder of a payload template names a field that is not there; no job was made.

    `fields` has the fields that are missing, such as `event.folder_path`.
    """

    code = "WL4502"

    def __init__(self, fields: Sequence[str], errors: Sequence[FieldError]) -> None:
        self.fields = tuple(fields)
        super().__init__(
            "the payload template could not be filled in: a field is missing."
            if len(self.fields) == 1
            else "the payload template could not be filled in: fields are missing.",
            reason=_reasons(errors),
            hint="Change the template, or have the application send these fields; "
            "a condition can skip events without them.",
            errors=errors,
        )


class TemplateFailed(WindlassError):
    """A payload template could not be filled in with what was there; no job was made.

    A list or an object cannot stand inside a text, and the payload has to keep within its limits.
    """

    code = "WL4503"

    def __init__(self, problem: str, *, pointer: str = "") -> None:
        self.pointer = pointer
        error = FieldError(pointer, problem)
        super().__init__(
            "the payload template could not be filled in.",
            reason=_reasons([error]),
            hint="Let a placeholder for a list or an object stand alone, and pass the name or "
            "address of large data instead of the data.",
            errors=[error],
        )


class ConditionInvalid(WindlassError):
    """A condition on an event's data cannot be used."""

    code = "WL4601"

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__(
            "the condition cannot be used.",
            reason=_reasons(errors),
            hint='Write it like {"status": "published", "model": {"in": ["Pages", "Posts"]}, '
            '"mime_type": {"starts_with": "image/"}}.',
            errors=errors,
        )


def _reasons(errors: Sequence[FieldError]) -> str:
    return sentence("; ".join(map(str, errors)))
