"""The bare claim and finish statements: the upper limit of the design.

Plain asyncpg, two lanes, batches of 500. A *bare* job is a coroutine that counts; a *real* one
decodes its payload and has a context, a context variable, a timer, an outcome, a duration and a
guard against exceptions.
"""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import asyncpg

from benchmarks.sides.windlass_app import Verb, main
from windlass.core.jobs import outcome
from windlass.core.leases.lease import JobLine, JobPosition, LeaseRef, Quota
from windlass.ids import DefinitionKey, JobId, QueueName, TenantId, WorkerId
from windlass.storage.database import Lane
from windlass.storage.leases.leases import LeaseVerbs
from windlass.storage.postgres import database, dialect
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Scripts
from windlass.worker.isolation.memory import settle

BATCH = 500
LANES = 2
LINE = JobLine(queue=QueueName("default"), tenant=TenantId("default"), gate="")

_current: ContextVar["Context"] = ContextVar("current")


@dataclass(slots=True)
class Context:
    """What a handler is handed."""

    job_id: object
    token: int
    attempt: int
    tenant: str
    payload: dict[str, Any]
    ended: str = ""
    seconds: float = 0.0


class Raw:
    """One drain: statements, and how many jobs ran."""

    def __init__(self, job: Callable[["Raw", Any], Coroutine[Any, Any, None]]) -> None:
        self._job = job
        self._scripts = Scripts(dialect.driver_dialect())
        self._after: JobPosition | None = None
        self.ran = 0

    async def lane(self, url: str) -> None:
        connection: Any = await asyncpg.connect(url, server_settings=database.PLANS[Lane.WORK])
        while claimed := await self._run(connection, "claim", await _claim(self._after)):
            last = max(claimed, key=lambda row: (row["priority"], row["due_at"], row["id"]))
            self._after = max(filter(None, [self._after, _place(last)]))
            await asyncio.gather(*[asyncio.create_task(self._job(self, row)) for row in claimed])
            await self._run(connection, "finish", await _finish(claimed))
        await connection.close()

    async def _run(self, connection: Any, verb: str, params: Mapping[str, Any]) -> list[Any]:
        (statement,) = self._scripts[verb]
        bound = self._scripts.bind(params)
        found: list[Any] = await connection.fetch(
            statement.text, *[bound[name] for name in statement.names]
        )
        return found


class Handed:
    """Stands where a database would, and keeps what a verb hands to it."""

    def __init__(self) -> None:
        self.params: Mapping[str, Any] = {}
        self.verbs = LeaseVerbs()
        self.verbs._db = self  # type: ignore[assignment]  # of a database's verbs only `run` is used

    async def run(self, verb: str, /, *, lane: object = None, **params: Any) -> list[Any]:
        self.params = params
        return []


async def _claim(after: JobPosition | None) -> Mapping[str, Any]:
    handed, quota = Handed(), Quota(line=LINE, line_limit=BATCH, tenant_limit=BATCH, begin=after)
    await handed.verbs.claim(
        WorkerId("raw"), [quota], [DefinitionKey("noop")], lease_time=timedelta(seconds=60)
    )
    return handed.params


async def _finish(claimed: Sequence[Any]) -> Mapping[str, Any]:
    handed = Handed()
    held = [LeaseRef(JobId(row["id"]), row["lease_token"]) for row in claimed]
    await handed.verbs.finish(
        WorkerId("raw"),
        [outcome.success(each, result=None, warnings=None, keep=True) for each in held],
    )
    return handed.params


def _place(row: Any) -> JobPosition:
    return JobPosition(row["priority"], rows.instant(row["due_at"]), JobId(row["id"]))


async def bare(raw: Raw, row: Any) -> None:
    raw.ran += 1


async def real(raw: Raw, row: Any) -> None:
    began = time.perf_counter()
    timer = asyncio.get_running_loop().call_later(60, _late)
    context = Context(row["id"], row["lease_token"], row["attempts"], row["tenant_id"], {})
    token = _current.set(context)
    try:
        context.payload = json.loads(row["payload"])
        await _handler(raw, **context.payload)
        context.ended = "succeeded"
    except Exception as error:  # noqa: BLE001  whatever a handler raises is its outcome
        context.ended = str(error)
    finally:
        _current.reset(token)
        timer.cancel()
        context.seconds = time.perf_counter() - began


async def _handler(raw: Raw, text: str) -> None:
    raw.ran += 1


def _late() -> None:
    """No job of a benchmark takes so long."""


async def drain(url: str, jobs: str, kind: str) -> dict[str, float]:
    raw = Raw(bare if kind == "bare" else real)
    settle()
    cpu, began = time.process_time(), time.perf_counter()
    await asyncio.gather(*[raw.lane(url) for _n in range(LANES)])
    seconds, used = time.perf_counter() - began, time.process_time() - cpu
    assert raw.ran == int(jobs), f"{raw.ran} jobs ran of {jobs}"
    return {"per_second": raw.ran / seconds, "cpu_us": used / raw.ran * 1e6}


VERBS: Mapping[str, Verb] = {"drain": drain}

if __name__ == "__main__":
    main(VERBS)
