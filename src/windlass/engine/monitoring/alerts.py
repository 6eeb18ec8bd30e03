"""Alerts: send each group of dead letters to each receiver, by one process at a time."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta

from windlass.core.jobs.dead import DeadGroup
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.monitoring.alert import AlertMessage, Notification, TestMessage
from windlass.engine.redaction import create_redactor, run_in_thread_if_long
from windlass.errors import DatabaseOutage
from windlass.settings import Settings
from windlass.storage.monitoring.alerts import Alert
from windlass.storage.storage import Storage
from windlass.telemetry import Telemetry

Send = Callable[[Notification], Awaitable[None]]

#: Interval of the check for failures that were not reported yet.
LOOK = timedelta(seconds=30)
#: Failures older than this are not reported if the cause was never reported before.
_RECENT_FAILURE = timedelta(days=1)
#: Most messages to a receiver in one check; the others wait for the next.
_MOST = 20
_MOST_GROUPS = 100
#: The number of newest dead-lettered jobs of a definition that are grouped.
_LOOKED_AT = 5_000
_KEPT_DAYS = 30.0


class AlertNotSent(Exception):
    """An alert could not be sent. The message gives the reason, without secrets."""


class Alerts:
    """Reports a group to each receiver at most once per interval, and only new failures. A receiver
    that fails is tried again after the interval."""

    def __init__(self, storage: Storage, settings: Settings, telemetry: Telemetry) -> None:
        self._storage = storage
        self._settings = settings
        self._telemetry = telemetry
        self._interval = timedelta(seconds=settings.alerts.interval_seconds)

    async def send(self, receivers: Mapping[str, Send]) -> int:
        """Send new failures to the receivers, unless another process has just checked. Returns the
        number of messages sent."""
        looking = [
            name
            for name in receivers
            if await self._storage.monitoring.claim_alert(name, "", "", interval=LOOK * 0.9)
        ]
        groups = await self._groups() if looking else []
        if not groups:
            return 0
        now = await self._storage.now()
        alerted = {alert[:3]: alert for alert in await self._storage.monitoring.alerts()}
        sent = 0
        for name in looking:
            news = [
                group
                for group in groups
                if self._needs_alert(
                    group, alerted.get((name, group.definition, group.fingerprint)), now
                )
            ]
            sent += await self._send_alerts(name, receivers[name], news[:_MOST])
        return sent

    async def test(
        self, receivers: Mapping[str, Send], *, actor: str, environment: str = ""
    ) -> Mapping[str, str | None]:
        """Send a test message to each receiver now. Returns by receiver why it was not sent; None if
        it was."""
        message = TestMessage(at=await self._storage.now(), actor=actor, environment=environment)
        return {name: await _try(send, message) for name, send in receivers.items()}

    async def prune(self) -> None:
        """Delete the records of old alerts."""
        await self._storage.monitoring.prune_alerts(days=_KEPT_DAYS)

    async def _groups(self) -> Sequence[DeadGroup]:
        """Causes that are not muted for everybody, the one with the oldest last failure first."""
        counts = await self._storage.jobs.state_counts(ALL_TENANTS)
        failing = {str(row["definition"]) for row in counts if row["dead_letter"] > 0}
        groups = [
            group
            for key in sorted(failing)
            for group in await self._storage.jobs.dead_groups(
                ALL_TENANTS, key, most=_MOST_GROUPS, look=_LOOKED_AT
            )
        ]
        return sorted(groups, key=lambda group: group.last_at)

    def _needs_alert(self, group: DeadGroup, alert: Alert | None, now: datetime) -> bool:
        if alert is None:
            return now - group.last_at <= _RECENT_FAILURE
        untold = alert.told_until is None or alert.told_until < group.last_at
        return untold and now - alert.tried_at >= self._interval

    async def _send_alerts(self, name: str, send: Send, news: Sequence[DeadGroup]) -> int:
        sent = 0
        for group in news:
            about = (name, group.definition, group.fingerprint)
            if not await self._storage.monitoring.claim_alert(
                *about, interval=self._interval, last_at=group.last_at
            ):
                continue  # another process was faster
            try:
                await send(await self._message(group))
            except DatabaseOutage:
                raise
            except Exception as error:  # noqa: BLE001  a failing receiver must not disturb upkeep
                self._not_sent(name, group, error)
                break  # this receiver's other messages wait for the next check
            await self._storage.monitoring.record_alert_sent(*about, last_at=group.last_at)
            sent += 1
        return sent

    async def _message(self, group: DeadGroup) -> AlertMessage:
        newest = await self._storage.jobs.get(ALL_TENANTS, group.sample_id)
        error = None if newest is None else newest.last_error
        redactor = create_redactor(self._settings)
        return await run_in_thread_if_long(lambda: AlertMessage.of(group, error, redactor), error)

    def _not_sent(self, name: str, group: DeadGroup, error: Exception) -> None:
        self._telemetry.warn(
            "an alert could not be sent",
            receiver=name,
            definition=group.definition,
            fingerprint=group.fingerprint,
            retry_seconds=self._settings.alerts.interval_seconds,
            error=_reason(error),
        )


async def _try(send: Send, message: Notification) -> str | None:
    try:
        await send(message)
    except Exception as error:  # noqa: BLE001  the result of the test
        return _reason(error)
    return None


def _reason(error: Exception) -> str:
    """The reason for people. Other errors may repeat an address with a secret in it."""
    return str(error) if isinstance(error, AlertNotSent) else type(error).__name__
