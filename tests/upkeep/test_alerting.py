"""Alerts about dead letters by mail and webhook: per cause, once in an interval, without secrets."""

import base64
import hashlib
import hmac
import json
from datetime import timedelta

import pytest

from tests.conformance.jobs.dead.test_dead import REFUSED, TIMEOUT, dead
from tests.upkeep.alert_receivers import mail_server, web_server
from windlass import Settings
from windlass.core.jobs.models import ALL_TENANTS
from windlass.engine.engine import Engine
from windlass.settings import AlertSettings
from windlass.telemetry import Telemetry
from windlass.upkeep.alerting import LOOK_SECONDS, AlertSender
from windlass.upkeep.upkeep import Upkeep

HOUR, LOOK = timedelta(hours=1), timedelta(seconds=LOOK_SECONDS)
KEY = "a key of 16 and more"


@pytest.fixture
async def mail():
    async with mail_server() as receiver:
        yield receiver


@pytest.fixture
async def web():
    async with web_server() as receiver:
        yield receiver


@pytest.fixture
def engine(storage, heard, mail, web):
    alerts = AlertSettings(
        mail_to=("ops@example.com", "night@example.com"),
        smtp_url=f"smtp://ada:pass%20word@127.0.0.1:{mail.port}",
        webhook_url=f"http://127.0.0.1:{web.port}/alerts?token=hunter2",
        webhook_secret=KEY,
    )
    return Engine(storage, Settings(alerts=alerts), Telemetry(heard))


@pytest.fixture
def alerting(engine):
    return AlertSender(engine)


async def test_one_alert_per_cause_goes_to_mail_and_webhook(storage, alerting, mail, web):
    for _ in range(3):
        newest = await dead(storage, TIMEOUT, "TimeoutError: no answer\npassword=hunter2")
    await dead(storage, REFUSED, "ConnectionError: refused")

    assert await alerting.tick() == 4

    [first] = [mail for mail in mail.mails if "3 jobs" in mail["Subject"]]
    assert first["To"] == "ops@example.com, night@example.com"
    assert first["Subject"].startswith("[windlass] plain: 3 jobs failed for good: ")
    assert f"windlass jobs show {newest}" in first.get_content()
    told = [json.loads(body) for _, body in web.posts]
    [timeout] = [each for each in told if each["jobs"] == 3]
    assert (timeout["event"], timeout["definition"]) == ("windlass.job.dead_lettered", "plain")
    assert (timeout["fingerprint"], timeout["job_id"]) == (TIMEOUT, str(newest))
    assert "no answer" in timeout["error"]
    everything = first.get_content() + json.dumps(told)
    assert "hunter2" not in everything, "secrets are hidden"
    assert base64.b64encode(b"\0ada\0pass word") in mail.logins[0]


async def test_the_webhook_is_signed(storage, alerting, web):
    await dead(storage)

    await alerting.tick()

    [(headers, body)] = web.posts
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = hmac.new(KEY.encode(), signed, hashlib.sha256).digest()
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"


async def test_a_lasting_cause_is_alerted_again_after_the_interval(
    storage, alerting, clock, mail, web
):
    await dead(storage)
    await alerting.tick()

    await clock.advance(LOOK)
    await dead(storage)
    early = await alerting.tick()
    await clock.advance(HOUR)
    late = await alerting.tick()
    await clock.advance(HOUR)
    nothing_new = await alerting.tick()

    assert (early, late, nothing_new) == (0, 2, 0)
    assert [json.loads(body)["jobs"] for _, body in web.posts] == [1, 2]


async def test_muted_and_old_failures_send_no_alert(storage, engine, alerting, clock):
    await dead(storage, TIMEOUT)
    await clock.advance(timedelta(days=2))
    await dead(storage, REFUSED)
    await storage.jobs.mute(ALL_TENANTS, "plain", REFUSED)

    assert await alerting.tick() == 0


async def test_one_of_several_processes_sends_the_alert(storage, engine, mail, web):
    await dead(storage)

    assert sorted([await AlertSender(engine).tick() for _ in range(3)]) == [0, 0, 2]
    assert (len(mail.mails), len(web.posts)) == (1, 1)


async def test_a_failing_receiver_is_retried_without_affecting_others(
    storage, engine, alerting, clock, heard, mail, web
):
    mail.failing = web.failing = True
    await dead(storage)

    await Upkeep(engine, lease_time=timedelta(seconds=30)).tick()
    await clock.advance(LOOK)
    await alerting.tick()
    asked = (mail.asked, web.asked)
    mail.failing = web.failing = False
    await clock.advance(HOUR)
    sent = await alerting.tick()

    assert (asked, sent) == ((1, 1), 2), "once in an interval, until it is told"
    failures = [about for _, event, about in heard.said if event == "an alert could not be sent"]
    assert {about["receiver"]: about["error"] for about in failures} == {
        "mail": "the mail server did not take it: SMTPDataError 451",
        "webhook": "the webhook answered 503",
    }
    assert "hunter2" not in repr(heard.said)


async def test_without_receivers_no_query_is_sent(storage, heard):
    assert not AlertSender(Engine(storage, Settings(), Telemetry(heard))).wanted
