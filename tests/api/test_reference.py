"""The reference page: a stranger types its lines, one after the other, and they work."""

import subprocess

import httpx2
import pytest
from fastapi import FastAPI

from tests.api.serving import serving
from windlass.api.reference import EXAMPLES, curl


def declare(wl):
    @wl.job
    def hello(name: str) -> str:
        return f"Hello, {name}!"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_every_example_runs_in_the_order_of_the_page(database):
    with serving(database.url, declare) as address:
        # `--fail-with-body` has curl tell the shell what the server said.
        lines = [
            curl(example).replace("curl -sS", "curl -sS --fail-with-body") for example in EXAMPLES
        ]
        script = "\n".join(["set -euo pipefail", f"API={address}/api/v1", *lines])

        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


async def test_the_page_is_served_without_anything_from_elsewhere(api):
    page = (await api.get("http://localhost/docs")).text

    assert "Enqueue a job" in page
    assert "http" not in page.replace("http://127.0.0.1:8787", "").replace("HTTP", "")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 100_000, 422),
        (b'{"definition": "x", "payload": {"a": "' + b"x" * 2_000_000 + b'"}}', 413),
        (b"not json", 422),
        (b'{"definition": "hello", "payload": {"name": NaN}}', 422),
        (b"\xff\xfe", 422),
    ],
)
async def test_a_body_that_cannot_be_read_is_a_problem(api, wl, body, status):
    declare(wl)

    answer = await api.post("/jobs", content=body, headers={"content-type": "application/json"})

    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"].startswith("WL")


async def test_it_can_be_mounted_in_an_application_of_ones_own(wl, served):
    host = FastAPI()
    host.mount("/ops/windlass", served)

    transport = httpx2.ASGITransport(host)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        listed = await client.get("/ops/windlass/api/v1/jobs")
        lost = await client.get("/ops/windlass/api/v1/nothing")

    assert listed.json() == {"items": [], "next_cursor": None}
    assert lost.json()["code"] == "WL2102"
