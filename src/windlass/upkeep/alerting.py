"""Sends alerts about dead letters by mail and webhook, as the settings say."""

import asyncio
import base64
import hashlib
import hmac
import json
import ssl
from collections.abc import Mapping
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from urllib.parse import unquote, urlsplit

from windlass import clock
from windlass.core.monitoring.alert import Notification
from windlass.engine.engine import Engine
from windlass.engine.monitoring.alerts import LOOK, AlertNotSent, Send
from windlass.settings import AlertSettings

LOOK_SECONDS = LOOK.total_seconds()
_TIMEOUT_SECONDS = 10.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PORTS = {"smtp": 25, "smtps": 465}


class AlertSender:
    """Sends alerts for failures that were not reported yet."""

    def __init__(self, engine: Engine) -> None:
        self._alerts = engine.alerts
        self._receivers = receivers(engine.settings.alerts)

    @property
    def wanted(self) -> bool:
        """True if a receiver is configured."""
        return bool(self._receivers)

    async def tick(self) -> int:
        """Send what is new. Returns the number of messages sent."""
        return await self._alerts.send(self._receivers) if self._receivers else 0


def receivers(settings: AlertSettings) -> Mapping[str, Send]:
    """The configured receivers: name and send function."""
    found: dict[str, Send] = {}
    if settings.mail_to:
        found["mail"] = lambda message: _mail(message, settings)
    if settings.webhook_url is not None:
        found["webhook"] = lambda message: _post(message, settings)
    return found


async def _post(message: Notification, settings: AlertSettings) -> None:
    """Send a message as JSON. Any response but a success is a failure, redirects included."""
    import httpx2  # late: only processes that send an alert need it

    assert settings.webhook_url is not None
    body = json.dumps(message.body, ensure_ascii=False).encode()
    headers = {"content-type": "application/json", **_signature_headers(message.id, body, settings)}
    try:
        async with httpx2.AsyncClient(timeout=_TIMEOUT_SECONDS) as client:
            response = await client.post(settings.webhook_url, content=body, headers=headers)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise AlertNotSent(f"the webhook cannot be reached: {type(error).__name__}") from None
    if not response.is_success:
        raise AlertNotSent(f"the webhook answered {response.status_code}")


def _signature_headers(id: str, body: bytes, settings: AlertSettings) -> Mapping[str, str]:
    """The headers by which a receiver verifies sender and time of a body: Standard Webhooks."""
    name = hashlib.sha256(id.encode()).hexdigest()[:32]
    at = str(int(clock.utcnow().timestamp()))
    headers = {"webhook-id": name, "webhook-timestamp": at}
    if settings.webhook_secret is not None:
        signed = f"{name}.{at}.".encode() + body
        digest = hmac.new(settings.webhook_secret.encode(), signed, hashlib.sha256).digest()
        headers["webhook-signature"] = f"v1,{base64.b64encode(digest).decode()}"
    return headers


async def _mail(message: Notification, settings: AlertSettings) -> None:
    mail = EmailMessage()
    mail["Subject"] = message.subject
    mail["From"] = settings.mail_from
    mail["To"] = ", ".join(settings.mail_to)
    mail["Date"] = format_datetime(clock.utcnow())
    mail["Message-ID"] = make_msgid(domain="windlass")
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(message.text)
    try:
        await asyncio.to_thread(_deliver, mail, settings.smtp_url)
    except OSError as error:  # all of smtplib's are
        raise AlertNotSent(f"the mail server did not take it: {_cause(error)}") from None


def _deliver(mail: EmailMessage, url: str) -> None:
    """Send a mail. A password is sent unencrypted only to this machine."""
    import smtplib  # few installations send mail

    parts = urlsplit(url)
    host, port = parts.hostname or "localhost", parts.port or _PORTS[parts.scheme]
    context = ssl.create_default_context()
    server: smtplib.SMTP
    if parts.scheme == "smtps":
        server = smtplib.SMTP_SSL(host, port, timeout=_TIMEOUT_SECONDS, context=context)
    else:
        server = smtplib.SMTP(host, port, timeout=_TIMEOUT_SECONDS)
    with server:
        server.ehlo()
        local = host in _LOOPBACK
        if parts.scheme == "smtp" and not local and server.has_extn("starttls"):
            server.starttls(context=context)
            server.ehlo()
        elif parts.scheme == "smtp" and not local and parts.username:
            raise AlertNotSent("the mail server offers no encryption, and the password is not sent")
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
        server.send_message(mail)


def _cause(error: Exception) -> str:
    """The error's type and code; the server's text may repeat an address or a password."""
    code = getattr(error, "smtp_code", None)
    return type(error).__name__ if code is None else f"{type(error).__name__} {code}"
