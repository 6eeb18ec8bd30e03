"""The reference page: its examples work when run one after the other."""

import subprocess
from html.parser import HTMLParser

import httpx2
import pytest
from fastapi import FastAPI

from tests.support.servers.api_server import serving
from windlass.api.pages.reference_page import reference_html
from windlass.api.schema.reference import EXAMPLES, curl
from windlass.errors.base import by_code


def declare(wl):
    @wl.job
    def hello(name: str) -> str:
        return f"Hello, {name}!"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_every_example_runs_in_page_order(database):
    with serving(database.url, declare) as address:
        # `--fail-with-body` makes curl's exit code report an error response.
        lines = [
            curl(example).replace("curl -sS", "curl -sS --fail-with-body") for example in EXAMPLES
        ]
        script = "\n".join(["set -euo pipefail", f"API={address}/api/v1", *lines])

        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


class Page(HTMLParser):
    """The parts of a page that the tests check."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data):
        self.words += data


async def test_the_page_has_every_operation_error_and_schema_with_working_links(api):
    document = (await api.get("/openapi.json")).json()
    page = Page((await api.get("http://localhost/docs")).text)

    operations = {
        operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
    }
    assert operations | set(by_code()) <= set(page.ids)
    assert {f"schema.{name}" for name in document["components"]["schemas"]} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert {link for link in page.links if link.removeprefix("#") not in page.ids} == set()
    assert "Idempotency-Key" in page.words


async def test_the_page_loads_nothing_else_under_the_strict_policy(api):
    response = await api.get("http://localhost/docs")

    page = Page(response.text)
    assert page.tags.isdisjoint({"script", "link", "img", "iframe", "object", "form"})
    assert page.attributes.isdisjoint({"style", "src", "onclick", "onload"})
    assert all(word not in response.text for word in ("@import", "url(", "<style>@"))
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "unsafe" not in response.headers["content-security-policy"]


def test_text_of_the_document_is_escaped():
    hostile = "<script>alert(1)</script>\"'&`<b>`"
    field = {"type": "string", "description": hostile, "default": hostile, "pattern": hostile}
    thing = {"properties": {hostile: field}, "description": hostile, "examples": [{"a": hostile}]}
    reference = {"$ref": f"#/components/schemas/{hostile.replace('/', '')}"}
    operation = {
        "tags": [hostile],
        "operationId": hostile,
        "summary": hostile,
        "description": hostile,
        "x-right": hostile,
        "parameters": [{"name": hostile, "in": "query", "required": True, "schema": field}],
        "requestBody": {"content": {"application/json": {"schema": reference}}},
        "responses": {
            hostile: {
                "description": hostile,
                "content": {"application/json": {"schema": reference}},
            }
        },
    }
    document = {
        "paths": {f"/{hostile}": {"get": operation}},
        "components": {
            "schemas": {hostile.replace("/", ""): thing},
            "securitySchemes": {hostile: {"description": hostile}},
        },
    }

    page = Page(reference_html(document))

    assert page.tags.isdisjoint({"script", "b"})
    assert page.words.count("<script>") > 10


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
async def test_an_unreadable_body_is_a_problem_response(api, wl, body, status):
    declare(wl)

    response = await api.post("/jobs", content=body, headers={"content-type": "application/json"})

    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"].startswith("WL")


async def test_the_api_can_be_mounted_in_another_application(wl, served):
    host = FastAPI()
    host.mount("/ops/windlass", served)

    transport = httpx2.ASGITransport(host)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        listed = await client.get("/ops/windlass/api/v1/jobs")
        not_found = await client.get("/ops/windlass/api/v1/nothing")

    assert listed.json() == {"items": [], "next_cursor": None}
    assert not_found.json()["code"] == "WL2102"
