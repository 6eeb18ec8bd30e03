"""Flags that describe a definition, and the API fields they map to."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import click

from windlass.cli.text.parse_limit import NONE, limit_of
from windlass.core.definitions.definition import Isolation
from windlass.core.jobs.models import OnDuplicate, ParentFailure
from windlass.errors import CommandInvalid, OptionInvalid
from windlass.errors.wording import quoted

Command = Callable[..., Any]
Read = Callable[[str, Any], Any]

_JSON = 'Give a JSON object, such as \'{"folder": "/in"}\', or @FILE.'
_OR_NONE = "; none for no such limit."


def definition_flags(command: Command) -> Command:
    """Add a flag for every option of a definition."""
    for flag in reversed(_FLAGS):
        command = flag(command)
    return command


def definition_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """The given flags as fields of the API."""
    return {
        _NAMES.get(name, name): _READ.get(name, _as_is)(name, value)
        for name, value in given.items()
        if value is not None and value != ()
    }


_FLAGS = (
    click.option("--path", metavar="PATH", help="A function, under worker.handler_paths."),
    click.option("--command", metavar="NAME", help="A command of the settings, by its name."),
    click.option("--payload-schema", metavar="JSON", help="The schema of its payload, or @FILE."),
    click.option("--default-payload", metavar="JSON", help="Fills in what a job leaves out."),
    click.option("--title", metavar="TEXT", help="Title for people."),
    click.option("--description", metavar="TEXT", help="Description."),
    click.option("--enabled/--disabled", default=None, help="Accept and run its jobs."),
    click.option("--queue", metavar="NAME", help="The queue of its jobs."),
    click.option("--priority", metavar="PRIORITY", help="A number, or high, normal, low …"),
    click.option(
        "--max-attempts",
        type=click.IntRange(1, 100),
        metavar="N",
        help="Attempts of its jobs, the first included.",
    ),
    click.option(
        "--backoff",
        metavar="JSON",
        help="Backoff between attempts, or none for the default.",
    ),
    click.option("--attempt-timeout", metavar="DURATION", help="Time limit of an attempt."),
    click.option("--max-concurrency", metavar="N", help=f"Jobs at once{_OR_NONE}"),
    click.option("--rate-limit", metavar="RATE", help=f"Rate of starts, such as 100/min{_OR_NONE}"),
    click.option(
        "--limit-key", metavar="FIELD", help="Key of the per-key limits, such as args.id."
    ),
    click.option("--max-per-key", metavar="N", help=f"Jobs at once with one key{_OR_NONE}"),
    click.option("--rate-per-key", metavar="RATE", help=f"Starts with one key{_OR_NONE}"),
    click.option(
        "--dedupe",
        type=click.Choice(["payload", NONE]),
        help="Deduplicate jobs with equal payloads.",
    ),
    click.option(
        "--dedupe-window",
        metavar="DURATION",
        help="Window for equal jobs; none for while one is open.",
    ),
    click.option(
        "--on-duplicate", type=click.Choice(get_args(OnDuplicate)), help="Action on an equal job."
    ),
    click.option(
        "--isolation",
        type=click.Choice(get_args(Isolation)),
        help="In a thread, or in a separate process.",
    ),
    click.option(
        "--memory-limit-mb", metavar="MB", help="The limit of a process of its own, or none."
    ),
    click.option(
        "--idempotent/--not-idempotent", default=None, help="Running a job twice is safe."
    ),
    click.option(
        "--requires-permission", metavar="NAME", help="Permission needed to enqueue it, or none."
    ),
    click.option(
        "--on-parent-failure",
        type=click.Choice(get_args(ParentFailure)),
        help="Action of a job when its parent fails.",
    ),
    click.option(
        "--on-dead-letter",
        metavar="KEY",
        help="Definition to enqueue after a dead letter, or none.",
    ),
    click.option(
        "--after",
        metavar="KEY",
        multiple=True,
        help="Wait for this definition's open jobs; may be repeated.",
    ),
    click.option(
        "--retention-days", metavar="DAYS", help="Retention of ended jobs: days, forever, or none."
    ),
    click.option(
        "--log-retention-days", metavar="DAYS", help="Retention of logs: days, forever, or none."
    ),
    click.option("--retention-count", metavar="N", help="Number of ended jobs to keep, or none."),
    click.option(
        "--tag",
        "tags",
        metavar="TAG",
        multiple=True,
        help="Tag to find it by; may be repeated.",
    ),
    click.option("--metadata", metavar="JSON", help="Your own fields."),
    click.option("--runbook-url", metavar="URL", help="A page on what to do when it fails."),
)


def _as_is(option: str, value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _text_or_none(option: str, text: str) -> str | None:
    return None if text == NONE else text


def _priority(option: str, text: str) -> int | str:
    return int(text) if text.lstrip("-").isdecimal() else text


def _seconds(option: str, text: str) -> float | None:
    from windlass.core.durations import duration

    return None if text == NONE else duration(text, option=option).total_seconds()


def _days(option: str, text: str) -> float | str | None:
    if text in ("forever", NONE):
        return None if text == NONE else text
    try:
        return float(text)
    except ValueError:
        raise OptionInvalid(option, text, allowed="a number of days, forever or none") from None


def _object(option: str, text: str) -> dict[str, Any] | None:
    from windlass.cli.text.parse_payload import json_object

    flag = f"--{option.replace('_', '-')}"
    if text == NONE and option == "backoff":
        return None
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text("utf-8")
        except (OSError, UnicodeError) as error:
            raise CommandInvalid(f"{quoted(text)} cannot be read: {error}.", hint=_JSON) from None
    return json_object(text, flag, hint=_JSON)


#: Flag -> field of the API, where their names differ.
_NAMES = {"attempt_timeout": "timeout_seconds", "dedupe_window": "dedupe_window_seconds"}
_READ: Mapping[str, Read] = {
    **dict.fromkeys(("payload_schema", "default_payload", "backoff", "metadata"), _object),
    **dict.fromkeys(("attempt_timeout", "dedupe_window"), _seconds),
    **dict.fromkeys(
        ("max_concurrency", "max_per_key", "memory_limit_mb", "retention_count"), limit_of
    ),
    **dict.fromkeys(("retention_days", "log_retention_days"), _days),
    **dict.fromkeys(
        (
            "rate_limit",
            "rate_per_key",
            "limit_key",
            "dedupe",
            "requires_permission",
            "on_dead_letter",
            "runbook_url",
        ),
        _text_or_none,
    ),
    "priority": _priority,
}
