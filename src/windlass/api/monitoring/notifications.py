"""`/notifications`: tests of the receivers of alerts."""

from typing import Any

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.monitoring.settings import environment
from windlass.api.routing import Request, Routes, listed
from windlass.upkeep.alerting import receivers

routes = Routes("notifications")


@routes.post(
    "/test",
    "notifications.test",
    listed("NotificationTest"),
    keys="refused",
    summary="Send a test message",
)
async def test(request: Request, caller: CurrentCaller, engine: ReadyEngine) -> dict[str, Any]:
    """To each receiver of alerts that this server's settings name, by mail and webhook; an empty
    list if they name none. `error` says why a message was not sent."""
    found = await engine.alerts.test(
        receivers(engine.settings.alerts),
        actor=caller.effective_principal.name,
        environment=environment(request, engine.settings),
    )
    return {
        "items": [
            {"receiver": name, "sent": error is None, "error": error}
            for name, error in found.items()
        ]
    }
