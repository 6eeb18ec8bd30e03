"""The other pages of `windlass top`: one job, its log, the keys."""

import json
from collections.abc import Sequence

from rich.console import ConsoleDimensions, Group, RenderableType
from rich.text import Text

from windlass.cli.connect.api_client import JsonObject
from windlass.cli.text.styles import LEVELS, ago, moment, percent, state_of
from windlass.cli.top.drawing import foot
from windlass.cli.top.readings import JobDetail
from windlass.cli.top.screen import KEYS, Screen
from windlass.clock import utcnow
from windlass.errors.wording import printable, with_type


def job_page(opened: JobDetail, screen: Screen, size: ConsoleDimensions) -> RenderableType:
    """The facts about a job, from the state to the error."""
    lines = [_title(opened.job), Text()]
    lines += [_fact(label, value) for label, value in _facts(opened) if value]
    if opened.job["error_trace"]:
        lines += [Text(), *_texts(opened.job["error_trace"], "dim")]
    return _paged(lines, screen, size, from_end=False)


def log_page(opened: JobDetail, screen: Screen, size: ConsoleDimensions) -> RenderableType:
    """The end of a job's log; up and down scroll."""
    lines = [_log_line(line) for line in opened.lines]
    title = [_title(opened.job), Text()]
    empty = [Text("No log lines.", style="dim")]
    return _paged(lines or empty, screen, size, title=title, from_end=True)


def help_page(screen: Screen, size: ConsoleDimensions) -> RenderableType:
    """The keys and their actions."""
    width = max(len(key) for key, _ in KEYS)
    lines = [Text("windlass top", style="bold"), Text()]
    lines += [Text.assemble((f"  {key:<{width}}  ", "bold"), what) for key, what in KEYS]
    return _paged(lines, screen, size, from_end=False)


def _paged(
    lines: Sequence[Text],
    screen: Screen,
    size: ConsoleDimensions,
    *,
    title: Sequence[Text] = (),
    from_end: bool,
) -> Group:
    """Lines that fit the height, with the last line of the screen below."""
    room = max(1, size.height - len(title) - 1)
    past = min(screen.scroll, max(0, len(lines) - room))
    start = max(0, len(lines) - room - past) if from_end else 0
    seen = [*title, *lines[start : start + room]]
    for line in seen:
        line.no_wrap, line.overflow = True, "ellipsis"
    blank = [Text()] * (size.height - 1 - len(seen))
    return Group(*seen, *blank, foot(screen))


def _title(job: JsonObject) -> Text:
    look = state_of(job)
    return Text.assemble(
        (str(look), look.color), "  ", (printable(job["definition"]), "bold"), f"  {job['id']}"
    )


def _facts(opened: JobDetail) -> list[tuple[str, str]]:
    job = opened.job
    progress = f"{percent(job['progress'])} {job['progress_note'] or ''}".rstrip()
    return [
        ("Why", opened.why),
        ("Progress", progress if job["progress"] else ""),
        ("Result", _value(job["result"])),
        ("Error", with_type(job["error_type"], job["last_error"])),
        ("Reason", job["reason"] or ""),
        ("Payload", _value(job["payload"])),
        ("Tenant", job["tenant_id"]),
        ("Queue", job["queue"]),
        ("Attempts", f"{job['attempts']} of {job['max_attempts']}"),
        ("Created", _ago(job["created_at"])),
        ("Due", _ago(job["due_at"])),
        ("Started", _ago(job["last_started_at"])),
        ("Finished", _ago(job["finished_at"])),
        ("Worker", job["worker_id"] or ""),
    ]


def _fact(label: str, value: str) -> Text:
    return Text.assemble((f"{label:<9} ", "dim"), printable(" ".join(value.split("\n"))))


def _log_line(line: JsonObject) -> Text:
    at = moment(line["at"])
    fields = " ".join(f"{name}={_value(value)}" for name, value in line["fields"].items())
    return Text.assemble(
        (f"{at.astimezone():%H:%M:%S}  " if at else "", "dim"),
        (f"{line['level']:<5}  ", LEVELS[line["level"]]),
        printable(f"{line['message']} {fields}".rstrip().replace("\n", " ")),
    )


def _texts(text: str, style: str) -> list[Text]:
    # Indented, so that no line of a job's text looks like one of ours.
    return [Text(f"  {printable(line)}", style=style) for line in text.rstrip().split("\n")]


def _value(value: object) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _ago(text: str | None) -> str:
    return ago(moment(text), utcnow())
