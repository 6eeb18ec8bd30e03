"""The reference is what the server does: generated requests, and every answer checked against it."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.serving import serving

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
#: Tests that share the operations, so that they run side by side.
PARTS = 4
FEW = settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    database=None,
)


def declare(wl):
    @wl.job(key="args.n")
    def hello(name: str, n: int = 1) -> str:
        return name


@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_no_generated_request_finds_a_fault(database, part):
    with serving(database.url, declare) as address:
        schema = schemathesis.openapi.from_url(f"{address}/api/v1/openapi.json", timeout=60)
        operations = [found.ok() for found in schema.get_all_operations()]
        for operation in operations[part::PARTS]:
            probe(operation, address)

    assert len(operations) > 40


def probe(operation, address):
    @FEW
    @given(case=operation.as_strategy())
    def ask(case):
        case.call_and_validate(base_url=address, checks=CHECKS)

    ask()
