"""Windlass' lists, summaries and searches: `windlass_lists.py looks URL ROUNDS` prints their p95 in ms."""

import time
from collections.abc import Awaitable, Callable, Mapping
from statistics import quantiles
from typing import Any

from benchmarks.sides.windlass_app import Verb, app, main
from windlass import Windlass

#: What is asked of the history that `benchmarks/history.py` makes.
FILTERS: Mapping[str, str] = {
    "no filter": "",
    "a common state": "state:completed",
    "a rare state": "state:dead_letter",
    "a definition": "definition:kind3",
    "a queue": "queue:q3",
    "a rare queue": "queue:rare",
    "a tenant and a state": "tenant:t7 state:dead_letter",
    "a tenant and a rare definition": "tenant:default definition:rare",
    "a correlation id": 'correlation:"order 12000"',
    "the last hours": "created:>-2h",
    "a day long ago": "created:>-20d created:<-19d",
    "a part of the error": "error:timed",
    "a field of the payload": "payload.user_id:17",
}
_MOST_MS = 5000
WORDS: Mapping[str, str] = {"a common word": "mail", "a rare word": "needle"}


async def looks(url: str, rounds: str) -> dict[str, float]:
    """How long a page of each filter takes, a summary, a chart, a search, and a job by its id's end."""
    wl, _, _ = app(url)
    async with wl:
        return {name: await _p95(call, int(rounds)) for name, call in (await _asked(wl)).items()}


async def _asked(wl: Windlass) -> dict[str, Callable[[], Awaitable[Any]]]:
    [newest] = (await wl.jobs.list(limit=1)).jobs
    lists = {f"list by {name}": _call(wl.jobs.list, text) for name, text in FILTERS.items()}
    searches = {f"search for {name}": _call(wl.logs.search, text) for name, text in WORDS.items()}
    return {
        **lists,
        "summary": wl.jobs.summary,
        "chart of a day": _call(wl.stats, "24h"),
        **searches,
        "job by its id's end": _call(wl.jobs.find, str(newest.id)[-8:]),
    }


def _call(verb: Callable[[str], Awaitable[Any]], text: str) -> Callable[[], Awaitable[Any]]:
    return lambda: verb(text)


async def _p95(call: Callable[[], Awaitable[Any]], rounds: int) -> float:
    await call()  # connects, and reads what is on disk
    took: list[float] = []
    # What is slow is told apart from the rest by a few looks as well as by many.
    while len(took) < 2 or (len(took) < rounds and sum(took) < _MOST_MS):
        began = time.perf_counter()
        await call()
        took.append((time.perf_counter() - began) * 1000)
    return quantiles(took, n=20)[-1]


VERBS: Mapping[str, Verb] = {"looks": looks}

if __name__ == "__main__":
    main(VERBS)
