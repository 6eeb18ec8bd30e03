"""`POST /jobs/{id}/reveal`: secrets for callers with the right, each access audited."""

import httpx2
import pytest
from pydantic import SecretStr

from tests.api.authenticated_api import guarding
from windlass import Settings, Windlass
from windlass.api.access.credentials import by_credentials
from windlass.api.app import create_api
from windlass.engine.jobs.payload_encryption import new_key
from windlass.settings import EncryptionSettings, WorkerSettings

PIN = "4711-4711-4711"


@pytest.fixture
async def wl(database):
    settings = Settings(
        encryption=EncryptionSettings(keys=(new_key(),)),
        worker=WorkerSettings(handler_paths=("shop",)),
    )
    app = Windlass(database.url, settings=settings)
    yield app
    await app.close()


@pytest.fixture
async def guarded(wl):
    @wl.job
    def sign(name: str, pin: SecretStr) -> str:
        return name

    async with guarding(wl) as guarded:
        yield guarded


@pytest.fixture
async def at(guarded):
    """The address of a job's secrets."""
    receipt = await guarded.wl.enqueue("sign", {"name": "Ada", "pin": PIN}, tenant="acme")
    return f"/api/v1/jobs/{receipt.job_id}/reveal"


async def test_a_superadmin_sees_the_original_payload(guarded, at):
    root = await guarded.token("superadmin")

    response = await guarded.client.post(at, json={"reason": "ticket 12"}, headers=root)

    assert response.status_code == 200
    assert response.json()["payload"] == {"name": "Ada", "pin": PIN}
    assert response.headers["cache-control"] == "no-store"
    plain = await guarded.client.get(at.removesuffix("/reveal"), headers=root)
    assert plain.json()["payload"] == {"name": "Ada", "pin": "•••"}
    assert "sealed" not in plain.text


async def test_a_reveal_is_audited_with_its_reason_and_no_secret(guarded, at):
    root = await guarded.token("superadmin")
    await guarded.client.post(at, json={"reason": "ticket 12"}, headers=root)

    audit = await guarded.client.get("/api/v1/audit?tenant=acme", headers=root)

    entry = audit.json()["items"][0]
    assert (entry["action"], entry["outcome"]) == ("jobs.reveal", "allowed")
    assert entry["target_id"] in at
    assert entry["after"] == {"reason": "ticket 12"}
    assert PIN not in audit.text


@pytest.mark.parametrize("role", ["tenant_admin", "user"])
async def test_a_refused_reveal_is_audited_too(guarded, at, role):
    root, other = await guarded.token("superadmin"), await guarded.token(role, "acme")

    response = await guarded.client.post(at, headers=other)

    assert response.status_code == 403
    assert PIN not in response.text
    audit = await guarded.client.get("/api/v1/audit?tenant=acme", headers=root)
    assert (audit.json()["items"][0]["action"], audit.json()["items"][0]["outcome"]) == (
        "jobs.reveal",
        "refused",
    )


async def test_a_response_with_secrets_is_not_stored_under_a_key(guarded, at):
    root = await guarded.token("superadmin")

    response = await guarded.client.post(at, headers={**root, "idempotency-key": "once"})

    assert response.status_code == 422


async def test_a_clone_copies_secrets_without_showing_them(guarded, at):
    admin = await guarded.token("tenant_admin", "acme")

    response = await guarded.client.post(at.replace("/reveal", "/clone"), headers=admin)

    assert response.status_code == 201
    clone = response.json()["job"]
    assert clone["payload"] == {"name": "Ada", "pin": "•••"}
    assert (await guarded.wl.jobs.reveal(clone["id"])).payload == {"name": "Ada", "pin": PIN}


async def test_a_missing_key_is_reported(guarded, at, database):
    root = await guarded.token("superadmin")
    async with Windlass(database.url, settings=Settings()) as keyless:
        app = create_api(keyless, authenticate=by_credentials)
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://api") as client:
            response = await client.post(at, headers=root)

    assert (response.status_code, response.json()["code"]) == (409, "WL2210")


async def test_an_http_worker_gets_the_payload_decrypted(guarded, at):
    worker = await guarded.token("worker")
    body = {"worker": "far:1", "slots": 1, "definitions": {"sign": 1}}

    response = await guarded.client.post("/api/v1/worker/jobs/claim", json=body, headers=worker)

    assert response.status_code == 200, response.text
    assert response.json()["leases"][0]["payload"] == {"name": "Ada", "pin": PIN}


async def test_secrets_of_an_encrypted_payload_are_redacted_in_the_result(wl):
    @wl.job
    def echo(pin: SecretStr) -> dict:
        return {"said": pin.get_secret_value().encode().hex()}

    async with guarding(wl) as guarded:
        receipt = await echo.enqueue(pin=PIN)
        async with wl.running():
            await wl.jobs.wait(receipt.job_id, "30s")
        root = await guarded.token("superadmin")
        shown = await guarded.client.get(f"/api/v1/jobs/{receipt.job_id}", headers=root)

    assert shown.json()["result"] == {"said": "•••"}


async def test_secrets_of_a_default_payload_are_redacted(guarded):
    schema = {"properties": {"pin": {"writeOnly": True}, "to": {}}}
    await guarded.wl.definitions.create(
        "made", path="shop.made", payload_schema=schema, default_payload={"pin": PIN, "to": "a"}
    )
    user = await guarded.token("user", "acme")

    response = await guarded.client.get("/api/v1/definitions/made", headers=user)

    assert response.json()["default_payload"] == {"pin": "•••", "to": "a"}
