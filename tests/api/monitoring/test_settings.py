"""`/settings` and `/notifications/test`: what people may know, and messages that prove receivers."""

import json

import pytest

from tests.api.authenticated_api import guarding
from tests.upkeep.alert_receivers import mail_server, web_server
from windlass import Settings, Windlass
from windlass.settings import AlertSettings, RedactionSettings, ServerSettings


@pytest.fixture
async def mail():
    async with mail_server() as receiver:
        yield receiver


@pytest.fixture
async def web():
    async with web_server() as receiver:
        yield receiver


@pytest.fixture
async def wl(database, mail, web):
    alerts = AlertSettings(
        mail_to=("ops@example.com",),
        smtp_url=f"smtp://127.0.0.1:{mail.port}",
        webhook_url=f"http://127.0.0.1:{web.port}/alerts?token=hunter2",
        webhook_secret="a key of 16 and more",
    )
    settings = Settings(
        alerts=alerts,
        server=ServerSettings(environment="staging", secret="s" * 32),
        redaction=RedactionSettings(names=("iban",), patterns=("acme_live_*",)),
    )
    app = Windlass(database.url, settings=settings)
    yield app
    await app.close()


async def test_the_settings_hold_no_secret(wl, database):
    async with guarding(wl) as guarded:
        root = await guarded.token("superadmin")
        shown = (await guarded.client.get("/api/v1/settings", headers=root)).json()

    assert (shown["environment"], shown["development"]) == ("staging", False)
    assert (shown["authentication"], shown["single_tenant"]) == (True, False)
    assert shown["database"]["kind"] in (database.kind, "mysql")
    assert shown["database"]["version"][0].isdigit()
    assert shown["retention"] == {"days": 30.0, "log_days": 7.0, "count": None}
    assert "iban" in shown["redaction"]["names"]
    assert shown["redaction"]["patterns"] == 1
    assert shown["notifications"] == [
        {"kind": "mail", "to": "o…@example.com"},
        {"kind": "webhook", "to": "http://127.0.0.1/…"},
    ]
    assert not [each for each in ("hunter2", "ssss", "a key of") if each in str(shown)]


@pytest.mark.parametrize("role", ["tenant_admin", "user"])
async def test_a_tenants_caller_sees_the_environment_only(wl, role):
    async with guarding(wl) as guarded:
        who = await guarded.token(role, tenant="acme")
        shown = (await guarded.client.get("/api/v1/settings", headers=who)).json()
        refused = await guarded.client.post("/api/v1/notifications/test", headers=who)

    assert shown["environment"] == "staging"
    assert {shown[name] for name in ("database", "retention", "redaction", "notifications")} == {
        None
    }
    assert refused.status_code == 403


async def test_a_test_message_goes_to_each_receiver(wl, mail, web):
    async with guarding(wl) as guarded:
        root = await guarded.token("superadmin")
        sent = await guarded.client.post("/api/v1/notifications/test", headers=root)
        web.failing = True
        failed = await guarded.client.post("/api/v1/notifications/test", headers=root)

    assert sent.json()["items"] == [
        {"receiver": "mail", "sent": True, "error": None},
        {"receiver": "webhook", "sent": True, "error": None},
    ]
    assert mail.mails[0]["Subject"] == "[windlass staging] Test of notifications"
    assert json.loads(web.posts[0][1])["event"] == "windlass.notification.test"
    refused = failed.json()["items"][1]
    assert (refused["receiver"], refused["sent"]) == ("webhook", False)
    assert refused["error"].startswith("the webhook answered ")
