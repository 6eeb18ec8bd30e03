"""Generated requests: every response is checked against the OpenAPI reference."""

import asyncio
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.schema.extreme_requests import Mutation, Sent
from tests.support.servers.api_server import serving
from windlass import Settings, Windlass
from windlass.api.access.credentials import by_credentials
from windlass.api.live.intervals import StreamIntervals
from windlass.core.access.principal import local

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
#: Tests that share the operations, so that they run side by side.
PARTS = 2
#: Rounds over every route. WINDLASS_TEST_ROUNDS=200 is a long run, another seed another run.
ROUNDS = int(os.environ.get("WINDLASS_TEST_ROUNDS", "3"))
SEED = int(os.environ.get("WINDLASS_TEST_SEED", "12"))
FEW = settings(
    max_examples=ROUNDS,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    print_blob=False,
    # A request depends on the state left by earlier ones: a repeat may get another response.
    phases=[Phase.generate],
)
OTHERS = ("nobody", "worker", "user", "tenant_admin")
UNLIMITED = {
    f"server.requests_per_minute_per_{whose}": "unlimited"
    for whose in ("token", "worker", "tenant", "address")
}
OPTIONS = Settings.load({**UNLIMITED, "worker.handler_paths": ["tests"]}, environ={})


def declare(wl):
    @wl.job(key="args.n")
    def hello(name: str, n: int = 1) -> str:
        return name

    @wl.job
    def note(n: object = None) -> None: ...


@dataclass
class Request:
    """A server, a client for each role, and what there is: a noun -> ids of some."""

    address: str
    roles: dict[str, httpx2.Client]
    known: dict[str, list[str]]

    def check(self, sent: Sent, roles: Collection[str]) -> None:
        """Send a request in each of the roles; none may find a fault of the server's."""
        for role in roles:
            client = self.roles[role]
            query = urlencode(sent.params, encoding="utf-8", errors="surrogatepass")
            request = client.build_request(
                sent.method,
                f"{self.address}{sent.path}{'?' if query else ''}{query}",
                headers=[("content-type", b"application/json"), *sent.headers],
                content=sent.body,
            )
            response = client.send(request, stream=True)
            try:
                assert response.status_code < 500, (
                    f"{response.status_code} to {role} for {sent}, "
                    f"WINDLASS_TEST_SEED={SEED} WINDLASS_TEST_ROUNDS={ROUNDS}"
                )
            finally:
                response.close()


@contextmanager
def asking(url: str) -> Iterator[Request]:
    """A server with accounts of every role and some of everything."""
    tokens, known = asyncio.run(populate(url))
    soon = StreamIntervals(wait_seconds=0.05)  # or a wait for a job on hold lasts a minute
    with serving(url, declare, settings=OPTIONS, authenticate=by_credentials, pace=soon) as address:
        roles = {
            role: httpx2.Client(
                headers={"authorization": f"Bearer {secret}"} if secret else {}, timeout=60
            )
            for role, secret in tokens.items()
        }
        try:
            lease(address, roles["worker"], known)
            yield Request(address, roles, known)
        finally:
            for client in roles.values():
                client.close()


async def populate(url: str) -> tuple[dict[str, str | None], dict[str, list[str]]]:
    """Tokens by role (None for "nobody"), and ids of the created objects."""
    wl = Windlass(url, settings=OPTIONS)
    declare(wl)
    async with wl:
        engine = await wl.ready()
        for tenant in ("acme", "scratch"):
            await wl.tenants.create(tenant)
        created = {
            role: (
                await engine.tokens.create(
                    local(),
                    role,
                    role=role,
                    tenant="acme" if role in ("tenant_admin", "user") else None,
                )
            ).secret
            for role in ("worker", "user", "tenant_admin", "superadmin")
        }
        spare = await engine.tokens.create(local(), "spare", role="user", tenant="scratch")
        jobs = [
            await wl.enqueue("note", {"n": 1}, tenant=tenant, **options)
            for tenant in ("acme", "default")
            for options in ({}, {}, {}, {"hold": True}, {"delay": "1h"})
        ]
        event = await wl.emit("e", {"a": 1})
        about = {"definition": "note", "payload": {"n": "{{event.a}}"}}
        trigger = await wl.triggers.create("t", event="e", **about)
        schedule = await wl.schedules.create("s", definition="note", schedule="0 2 * * *")
        user = await engine.users.create(local(), "ada@example.com")
    ids = [str(receipt.job_id) for receipt in jobs]
    known = {
        "jobs": ids,
        "dead": ids,
        "definitions": ["args.n", "note"],
        "triggers": [str(trigger.id), "t"],
        "schedules": [str(schedule.id), "s"],
        "events": [str(event.id)],
        "queues": ["default"],
        "tenants": ["scratch", "nobody"],
        "tokens": [str(spare.token.id)],
        "users": [str(user.id), user.name],
        "members": [user.name],
        "workers": ["far:1"],
        "worker": ids,
    }
    return {"nobody": None, **created}, known


def lease(address: str, worker: httpx2.Client, known: dict[str, list[str]]) -> None:
    """Let a worker have one dead-lettered, one completed and some running jobs."""
    say = f"{address}/api/v1/worker"
    claim = {"worker": "far:1", "slots": 4, "definitions": {"note": 1, "args.n": 1}}
    leases = worker.post(f"{say}/jobs/claim", json=claim).json()["leases"]
    first, second = leases[:2]
    for one, verb, more in (
        (first, "fail", {"error": "boom", "error_type": "OSError", "permanent": True}),
        (second, "complete", {"result": 1}),
    ):
        about = {"worker": "far:1", "token": one["token"], **more}
        worker.post(f"{say}/jobs/{one['job_id']}/{verb}", json=about).raise_for_status()
    known["dead"] = [first["job_id"]]


@pytest.mark.timeout(600 + 60 * ROUNDS)
@pytest.mark.parametrize("part", range(PARTS))
def test_generated_requests_match_the_reference(database, part):
    with asking(database.url) as asked:
        schema = schemathesis.openapi.from_url(f"{asked.address}/api/v1/openapi.json", timeout=60)
        operations = [found.ok() for found in schema.get_all_operations()]
        for operation in operations[part::PARTS]:
            probe(operation, asked)

    assert len(operations) > 40


def probe(operation, asked):
    superadmin = dict(asked.roles["superadmin"].headers)

    @seed(SEED)
    @FEW
    @given(case=operation.as_strategy(), dice=st.integers(0, 2**32))
    def ask(case, dice):
        case.call_and_validate(base_url=asked.address, headers=superadmin, checks=CHECKS)
        for step in range(2):
            # The superadmin gets past every gate; the others take turns.
            others = OTHERS[step::2] if dice % 2 else OTHERS[1 - step :: 2]
            asked.check(Mutation(dice + step, asked.known).sent(case), [*others, "superadmin"])

    ask()
