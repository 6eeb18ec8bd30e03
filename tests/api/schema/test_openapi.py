"""The OpenAPI document has what generators of clients and pages need."""

import re

import pytest

from tests.api.authenticated_api import PUBLIC
from windlass import Settings, Windlass
from windlass.api.app import create_api


@pytest.fixture(scope="module")
def document():
    return create_api(Windlass("sqlite:///:memory:", settings=Settings())).openapi()


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def test_operation_ids_are_unique_noun_verb_pairs(document):
    ids = [operation["operationId"] for _, _, operation in operations(document)]

    assert all(re.fullmatch(r"[a-z]+\.[a-z_]+", id) for id in ids), ids
    assert len(set(ids)) == len(ids)
    assert {
        "jobs.list", "jobs.enqueue", "jobs.get", "jobs.cancel", "jobs.run_now", "dead.groups",
        "definitions.create", "triggers.test", "worker.claim", "stats.get", "stream.follow",
        "account.whoami", "health.metrics",
    } <= set(ids)  # fmt: skip


def test_every_route_declares_its_credential(document):
    schemes = document["components"]["securitySchemes"]

    assert schemes["bearer"]["scheme"] == "bearer"
    assert schemes["session"] == {**schemes["session"], "in": "cookie", "name": "windlass_session"}
    assert document["security"] == [{name: []} for name in schemes]
    for _, path, operation in operations(document):
        open_to_all = path in PUBLIC or path in ("/healthz", "/readyz")
        assert (operation.get("security") == []) is open_to_all, path


def test_every_response_and_body_has_a_schema(document):
    for method, path, operation in operations(document):
        for status, response in operation["responses"].items():
            if status == "204":
                assert "content" not in response
                continue
            schemas = [content.get("schema") for content in response["content"].values()]
            assert all(schemas), (method, path, status)
        if "requestBody" in operation:
            assert "application/json" in operation["requestBody"]["content"], (method, path)
