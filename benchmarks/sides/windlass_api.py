"""Windlass' API under load: `windlass_api.py soak URL SECONDS CLIENTS STREAMS`.

A server of its own process runs jobs too. Clients take turns at enqueueing, getting and listing, each
as soon as it was answered; streams listen meanwhile. Anything but the expected answer is an error.
"""

import asyncio
import itertools
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from statistics import quantiles

import httpx2

from benchmarks.sides.windlass_app import PAYLOAD, Verb, app, main
from windlass.core.access.principal import local

TENANTS = 5
_LOOK_SECONDS = 1.0


async def soak(url: str, seconds: str, clients: str, streams: str) -> dict[str, float]:
    """Requests a second, latencies of each kind, errors, and how the server's memory went."""
    tokens = await _tokens(url)
    with _server(url) as (base, pid):
        return await Soak(base, tokens, pid).run(float(seconds), int(clients), int(streams))


async def _tokens(url: str) -> Sequence[str]:
    wl, _, _ = app(url)
    async with wl:
        secrets = []
        for number in range(TENANTS):
            tenant = f"tenant{number}"
            await wl.tenants.create(tenant)
            made = await wl.engine.tokens.create(
                local(), "soak", role="tenant_admin", tenant=tenant
            )
            secrets.append(made.secret)
        return secrets


@contextmanager
def _server(url: str) -> Iterator[tuple[str, int]]:
    """A server's address and process, while the block lasts."""
    module = "benchmarks.sides.windlass_served"
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "windlass.cli",
            "serve",
            module,
            "--all",
            "--port",
            "0",
            "--db",
            url,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # Here it is how fast the server is that matters, not how fast a client may be.
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            _, found, rest = line.partition("The API is at ")
            if found:
                break
        else:
            raise RuntimeError("the server did not start")
        yield rest.partition(",")[0], process.pid
    finally:
        process.terminate()
        process.communicate(timeout=60)


class Soak:
    def __init__(self, base: str, tokens: Sequence[str], pid: int) -> None:
        self._base = base
        self._tokens = tokens
        self._pid = pid
        self._took: defaultdict[str, list[float]] = defaultdict(list)
        self._memory: list[float] = []
        self._errors = 0
        self._heard = 0

    async def run(self, seconds: float, clients: int, streams: int) -> dict[str, float]:
        until = time.monotonic() + seconds
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            listeners = [group.create_task(self._listen(n)) for n in range(streams)]
            group.create_task(self._watch(until))
            work = [group.create_task(self._work(n, until)) for n in range(clients)]
            await asyncio.wait(work)
            for listener in listeners:
                listener.cancel()
        spent = time.monotonic() - began
        third = max(1, len(self._memory) // 3)
        answered = sum(map(len, self._took.values()))
        return {
            "per_second": answered / spent,
            **{f"{kind}_{part}_ms": value for kind, took in self._took.items()
               for part, value in _parts(took).items()},
            "errors": float(self._errors),
            "messages": float(self._heard),
            "memory_mb": self._memory[-1],
            # Of the time after it has warmed up: how much more in the last third than in the one before.
            "growth_mb": _mean(self._memory[-third:]) - _mean(self._memory[third : 2 * third]),
        }  # fmt: skip

    async def _work(self, number: int, until: float) -> None:
        async with self._client(number) as client:
            last = ""
            for turn in itertools.count(number):
                if time.monotonic() >= until and turn > number + 2:
                    return
                match turn % 3 if last else 0:
                    case 0:
                        body = {"definition": "noop", "payload": {"text": PAYLOAD}}
                        answer = await self._timed("enqueue", client, "POST", "/jobs", json=body)
                        last = answer["job"]["id"] if answer else last
                    case 1:
                        await self._timed("get", client, "GET", f"/jobs/{last}")
                    case _:
                        await self._timed("list", client, "GET", "/jobs", params={"limit": "50"})

    async def _timed(
        self, kind: str, client: httpx2.AsyncClient, method: str, path: str, **about: object
    ) -> dict[str, dict[str, str]] | None:
        began = time.perf_counter()
        try:
            answer = await client.request(method, path, **about)  # type: ignore[arg-type]
        except httpx2.HTTPError:
            self._errors += 1
            return None
        self._took[kind].append((time.perf_counter() - began) * 1000)
        if answer.status_code not in (200, 201):
            self._errors += 1
            return None
        told: dict[str, dict[str, str]] = answer.json()
        return told

    async def _listen(self, number: int) -> None:
        async with self._client(number) as client:
            topics = {"topics": "jobs,queues"}
            async with client.stream("GET", "/stream", params=topics, timeout=None) as response:
                if response.status_code != 200:
                    self._errors += 1
                async for line in response.aiter_lines():
                    self._heard += line.startswith("data:")
        self._errors += 1  # it ends only when it is told to

    async def _watch(self, until: float) -> None:
        while time.monotonic() < until or len(self._memory) < 3:
            self._memory.append(_resident(self._pid))
            await asyncio.sleep(min(_LOOK_SECONDS, max(0.01, until - time.monotonic())))

    @asynccontextmanager
    async def _client(self, number: int) -> AsyncIterator[httpx2.AsyncClient]:
        token = self._tokens[number % len(self._tokens)]
        async with httpx2.AsyncClient(
            base_url=self._base, headers={"authorization": f"Bearer {token}"}, timeout=60
        ) as client:
            yield client


def _parts(took: Sequence[float]) -> dict[str, float]:
    cuts = quantiles(took, n=100) if len(took) > 1 else [*took] * 99
    return {"p50": cuts[49], "p99": cuts[98]}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


def _resident(pid: int) -> float:
    """Megabytes of memory that a process has."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


VERBS: Mapping[str, Verb] = {"soak": soak}

if __name__ == "__main__":
    main(VERBS)
