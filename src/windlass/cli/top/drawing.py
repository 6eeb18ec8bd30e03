"""Layout of the overview of `windlass top`: queues and workers side by side, or stacked, above the jobs."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from rich.console import ConsoleDimensions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from windlass.cli.connect.api_client import JsonObject
from windlass.cli.jobs.jobs import job_columns
from windlass.cli.text.output import Column, Item, table
from windlass.cli.text.styles import (
    LIVENESS,
    StateLabel,
    coarse,
    moment,
    run_time,
    slots_of,
    worker_state,
)
from windlass.cli.top.readings import QueueRate, TopData
from windlass.cli.top.screen import Screen
from windlass.clock import utcnow
from windlass.errors.wording import printable

#: The width from which queues and workers stand side by side.
_WIDE = 110
#: Fixed lines: head, one above the jobs, their title, foot; and the other titles.
_FRAME, _TITLES_WIDE, _TITLES_STACKED = 5, 1, 3
_MOST = 20
_LEVELS = "▁▂▃▄▅▆▇"


class _Shares(NamedTuple):
    """The lines that queues, workers and jobs get."""

    queues: int
    workers: int
    jobs: int


def overview(
    reading: TopData, screen: Screen, place: str, width: int, height: int | None
) -> RenderableType:
    """The overview page; without a height, as long as it needs."""
    wide = width >= _WIDE
    shares = _shares(reading, wide, height)
    half = width // 2 if wide else width
    queues = _queues(reading, _busiest(reading.queues, shares.queues), half)
    workers = _workers(
        reading, _worst_first(reading.workers)[: shares.workers], width - half or half
    )
    jobs = reading.jobs[: shares.jobs]
    above = [_side_by_side(queues, workers, half)] if wide else [queues, Text(), workers]
    chosen = None if height is None else screen.place([job["id"] for job in jobs])
    listed: RenderableType = table(jobs, job_columns(jobs), width, chosen=chosen)
    if not jobs:
        listed = Text("No jobs match." if screen.where else "No jobs yet.", style="dim")
    title = Text.assemble(("JOBS", "bold"), f" {printable(screen.where)}" if screen.where else "")
    parts = [head(reading, screen, place, wide=wide), *above, Text(), title, listed]
    if height is None:
        return Group(*parts)
    return Group(*parts, *[Text()] * (shares.jobs - len(jobs)), foot(screen, jobs=bool(jobs)))


def whole_page(reading: TopData, screen: Screen, place: str, size: ConsoleDimensions) -> Group:
    """The page of all queues or all workers, as far as there is room."""
    room = max(1, size.height - _FRAME)
    if screen.page == "queues":
        listed = _queues(reading, _busiest(reading.queues, room), size.width)
        left = room - len(reading.queues)
    else:
        listed = _workers(reading, _worst_first(reading.workers)[:room], size.width)
        left = room - len(reading.workers)
    above = head(reading, screen, place, wide=size.width >= _WIDE)
    return Group(above, Text(), listed, *[Text()] * max(left, 0), foot(screen))


def rows_for_jobs(reading: TopData | None, size: ConsoleDimensions) -> int:
    """The number of jobs that fit on the screen."""
    return (
        size.height if reading is None else _shares(reading, size.width >= _WIDE, size.height).jobs
    )


def head(reading: TopData, screen: Screen, place: str, *, wide: bool) -> Text:
    """The first line: server or database, throughput, p95 wait, dead letter, workers."""
    stale = sum(worker["stale"] for worker in reading.workers)
    wait = reading.stats["p95_wait_seconds"]
    live = ("❚❚ paused", "yellow") if screen.paused else ("● live", "green")
    dead = reading.summary["dead_letter"]
    speed = per_second(reading.rate.done)
    if wide:
        speed = f"throughput {speed} {_spark(reading.stats['points'])}"
    return Text.assemble(
        (printable(place), "bold"),
        " · ",
        live,
        f"   {speed}",
        f"   p95 wait {_brief(wait)}" if wait is not None else "",
        ("   dead letter ", ""),
        (f"{dead:,}", "red" if dead else ""),
        f"   workers {len(reading.workers)}",
        (f" ({stale} stale)" if stale else "", "yellow"),
        no_wrap=True,
        overflow="ellipsis",
    )


def foot(screen: Screen, *, jobs: bool = True) -> Text:
    """The last line: the text being typed, a question, the last message, or the available keys;
    `jobs` is True if there are jobs to choose from."""
    if screen.typing is not None:
        return _line(f"{screen.prompt}{screen.typing}▏", "bold")
    if screen.asking is not None:
        verb = screen.asking.verb.capitalize()
        return _line(f"{verb} {screen.asking.job[-8:]}? y: yes, any other key: no", "bold yellow")
    if screen.note:
        return _line(screen.note, "yellow")
    return _line("  ".join(_keys(screen, jobs=jobs)), "dim")


def _keys(screen: Screen, *, jobs: bool) -> Iterator[str]:
    yield from ("?:help", ":jobs", "/filter")
    if jobs and screen.page in ("overview", "job", "logs"):
        yield from () if screen.page == "job" else ("⏎:open",)
        yield from () if screen.page == "logs" else ("l:logs",)
        yield from () if screen.read_only else ("r:retry", "c:cancel")
    if screen.page != "overview" or screen.where:
        yield "esc:back"
    yield "q:quit"


def per_second(rate: float) -> str:
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"


def _shares(reading: TopData, wide: bool, height: int | None) -> _Shares:
    queues, workers = max(len(reading.queues), 1), max(len(reading.workers), 1)
    if height is None:
        return _Shares(min(queues, _MOST), min(workers, _MOST), _MOST)
    room = height - _FRAME - (_TITLES_WIDE if wide else _TITLES_STACKED)
    each = max(1, room // 2 if wide else room // 4)
    queues, workers = min(queues, each), min(workers, each)
    used = max(queues, workers) if wide else queues + workers
    return _Shares(queues, workers, max(1, room - used))


def _queues(reading: TopData, queues: Sequence[JsonObject], width: int) -> RenderableType:
    if not queues:
        return Group(_line("QUEUE", "dim"), _line("No queue has been used yet.", "dim"))
    oldest = {each["name"]: each["oldest_queued_seconds"] for each in reading.summary["queues"]}

    def age(queue: Item) -> str:
        return _brief(oldest.get(queue["name"]))

    def rate(queue: Item) -> QueueRate:
        return reading.rates.get(queue["name"], QueueRate(0.0, 0.0))

    columns = [
        Column("name", "QUEUE", _queue_name, wide=True),
        Column("queued", "DEPTH", lambda queue: f"{queue['queued']:,}", right=True),
        Column("oldest", "OLDEST", age, right=True),
        Column("running", "RUN/LIM", _room, right=True),
        Column("came", "IN/s", lambda queue: f"{rate(queue).came:.1f}", right=True, spare=1),
        Column("done", "OUT/s", lambda queue: f"{rate(queue).done:.1f}", right=True, spare=1),
    ]
    return table(queues, columns, width)


def _workers(reading: TopData, workers: Sequence[JsonObject], width: int) -> RenderableType:
    if not workers:
        return Group(_line("WORKER", "dim"), _line("No worker is running: windlass worker", "dim"))
    doing: dict[str, list[JsonObject]] = {}
    for job in reading.running:
        doing.setdefault(job["worker_id"], []).append(job)
    # By the database's clock, like the jobs' times.
    now = moment(reading.stats["until"]) or utcnow()

    def slots(worker: Item) -> str:
        # A heartbeat may be seconds old; the jobs are counted at each reading.
        return slots_of(worker, len(doing.get(worker["id"], ())) if reading.knows_running else None)

    columns = [
        Column("id", "WORKER", _worker_name, wide=True),
        Column("slots", "SLOTS", slots, right=True),
        Column("beat", "BEAT", lambda one: _brief(one["age_seconds"]), right=True),
        Column(
            "doing", "RUNNING", lambda one: _doing(one, doing.get(one["id"], []), now), wide=True
        ),
    ]
    return table(workers, columns, width)


def _side_by_side(left: RenderableType, right: RenderableType, half: int) -> Table:
    grid = Table.grid(padding=0)
    grid.add_column(width=half, no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_row(left, right)
    return grid


def _busiest(queues: Sequence[JsonObject], most: int) -> list[JsonObject]:
    """The busiest items, in their original order: lines that jump are hard to read."""
    busiest = sorted(queues, key=lambda queue: -(queue["queued"] + queue["running"]))[:most]
    return [queue for queue in queues if queue in busiest]


def _worst_first(workers: Sequence[JsonObject]) -> list[JsonObject]:
    return sorted(workers, key=lambda worker: (not worker["stale"], worker["id"]))


def _queue_name(queue: Item) -> str:
    return f"{queue['name']} ❚❚" if queue["paused_at"] else str(queue["name"])


def _room(queue: Item) -> str:
    running, limit = queue["running"], queue["max_concurrency"]
    if limit is None:
        return f"{running}/–"
    level = min(running * len(_LEVELS) // max(limit, 1), len(_LEVELS) - 1)
    return f"{running}/{limit} {_LEVELS[level]}"


def _worker_name(worker: Item) -> str | StateLabel:
    look = worker_state(worker)
    if look is LIVENESS["live"]:
        return str(worker["id"])
    return StateLabel(look.glyph, worker["id"], look.color)


def _doing(worker: Item, jobs: Sequence[JsonObject], now: datetime) -> str:
    look = worker_state(worker)
    order = "" if look in LIVENESS.values() else look.label.lower()
    return " · ".join(part for part in (order, _runs(jobs, now)) if part)


def _runs(jobs: Sequence[JsonObject], now: datetime) -> str:
    if not jobs:
        return ""
    first = min(jobs, key=lambda job: job["last_started_at"] or "")
    more = f" +{len(jobs) - 1}" if len(jobs) > 1 else ""
    return f"{first['definition']} {run_time(first, now)}{more}"


def _spark(points: Sequence[JsonObject]) -> str:
    done = [point["completed"] for point in points]
    most = max(done, default=0)
    return "".join(
        _LEVELS[each * (len(_LEVELS) - 1) // most] if most else _LEVELS[0] for each in done
    )


def _brief(seconds: float | None) -> str:
    return "" if seconds is None else coarse(timedelta(seconds=seconds))


def _line(text: str, style: str) -> Text:
    return Text(printable(text), style=style, no_wrap=True, overflow="ellipsis")
