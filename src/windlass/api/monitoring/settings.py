"""`/settings`: what people may know about an installation. Nothing secret."""

from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

from windlass.api.access.callers import CurrentCaller, ReadyEngine, open_access
from windlass.api.routing import Request, Routes
from windlass.core.jobs.models import SYSTEM_TENANT
from windlass.core.payloads.redact import SECRET_NAMES
from windlass.settings import AlertSettings, Settings

routes = Routes("settings")


@routes.get("", "settings.read", "InstallationSettings", summary="Get the settings", own=True)
async def get(request: Request, caller: CurrentCaller, engine: ReadyEngine) -> dict[str, Any]:
    """Those of this server process. Callers bound to a tenant get only the first five fields; the
    others are null for them."""
    settings = engine.settings
    tenants = [each for each in await engine.tenants.list() if each.id != SYSTEM_TENANT]
    shown: dict[str, Any] = {
        "environment": environment(request, settings),
        "version": version("windlass"),
        "development": _development(request),
        "authentication": getattr(request.app.state, "authenticate", None) is not open_access,
        "single_tenant": len(tenants) <= 1,
        **dict.fromkeys(("database", "retention", "redaction", "notifications")),
    }
    if not caller.reaches_all:
        return shown
    kind, number = await engine.doctor.database_version()
    return shown | {
        "database": {"kind": kind, "version": number},
        "retention": {
            "days": settings.retention_days,
            "log_days": settings.log_retention_days,
            "count": settings.retention_count,
        },
        "redaction": {
            "names": sorted({*SECRET_NAMES, *settings.redaction.names}),
            "patterns": len(settings.redaction.patterns),
        },
        "notifications": _receivers(settings.alerts),
    }


def environment(request: Request, settings: Settings) -> str:
    """The name of the installation; empty if it has none."""
    return settings.server.environment or ("dev" if _development(request) else "")


def _development(request: Request) -> bool:
    """True under `windlass dev`."""
    return getattr(request.app.state, "development", None) is not None


def _receivers(alerts: AlertSettings) -> list[dict[str, str]]:
    """The receivers of alerts. A webhook is shown by its host, because its path may be a secret."""
    found = [{"kind": "mail", "to": _masked_mail(each)} for each in alerts.mail_to]
    if alerts.webhook_url is not None:
        parts = urlsplit(alerts.webhook_url)
        found.append({"kind": "webhook", "to": f"{parts.scheme}://{parts.hostname}/…"})
    return found


def _masked_mail(address: str) -> str:
    name, at, host = address.rpartition("@")
    return f"{name[:1]}…{at}{host}"
