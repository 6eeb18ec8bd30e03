"""Verbs on alerts: the causes of dead letters reported to each receiver."""

from datetime import datetime, timedelta
from typing import NamedTuple

from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database
from windlass.storage.sql import rows


class Alert(NamedTuple):
    """The alerts about one cause to one receiver: time of the last try, and of the newest failure
    reported; None if none was."""

    receiver: str
    definition: str
    fingerprint: str
    tried_at: datetime
    told_until: datetime | None


class AlertVerbs:
    _db: Database

    @retry_deadlocks
    async def claim_alert(
        self,
        receiver: str,
        definition: str,
        fingerprint: str,
        *,
        interval: timedelta,
        last_at: datetime | None = None,
    ) -> bool:
        """Let one process report a cause to a receiver: True if none tried within the interval, and
        the failure at `last_at` was not reported yet."""
        taken = await self._db.run(
            "claim_alert",
            receiver=receiver,
            definition=definition,
            fingerprint=fingerprint,
            seconds=interval,
            last_at=last_at,
        )
        return bool(taken)

    async def record_alert_sent(
        self, receiver: str, definition: str, fingerprint: str, *, last_at: datetime
    ) -> None:
        """Store that a cause was reported to a receiver, up to the failure at `last_at`."""
        await self._db.run(
            "record_alert_sent",
            receiver=receiver,
            definition=definition,
            fingerprint=fingerprint,
            last_at=last_at,
        )

    async def alerts(self) -> list[Alert]:
        """The alerts of all receivers."""
        return [
            Alert(
                receiver=row["receiver"],
                definition=row["definition"],
                fingerprint=row["fingerprint"],
                tried_at=rows.instant(row["tried_at"]),
                told_until=rows.optional_instant(row["told_until"]),
            )
            for row in await self._db.run("alerts")
        ]

    async def prune_alerts(self, *, days: float) -> None:
        """Delete causes that were not reported for that many days."""
        await self._db.run("prune_alerts", days=days)
