"""Verbs on mutes: which causes of the dead letter people do not want to hear of."""

from datetime import timedelta
from typing import NamedTuple

from windlass.core.jobs.dead import Mute
from windlass.core.jobs.models import Scope
from windlass.ids import DefinitionKey, TenantId
from windlass.storage.database import Database
from windlass.storage.sql import rows

#: Whose mute one for all tenants is.
_ALL = ""


class MutedDeadCount(NamedTuple):
    """The number of jobs within the hour, and within the day."""

    hour: int
    day: int


class MuteVerbs:
    _db: Database

    async def mute(
        self,
        scope: Scope,
        definition: str,
        fingerprint: str,
        *,
        lasts: timedelta | None = None,
        by: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Mute a group for the scope, also one that is muted: the last word counts."""
        await self._db.run(
            "mute",
            definition=definition,
            fingerprint=fingerprint,
            tenant_id=scope.tenant or _ALL,
            muted_by=by,
            seconds=lasts,
            reason=reason,
        )

    async def unmute(self, scope: Scope, definition: str, fingerprint: str) -> None:
        """Take back the mute of this very scope; one of all tenants holds for each of them."""
        await self._db.run(
            "unmute",
            definition=definition,
            fingerprint=fingerprint,
            tenant_id=scope.tenant or _ALL,
        )

    async def mutes(
        self, scope: Scope, *, definition: str | None = None, fingerprint: str | None = None
    ) -> list[Mute]:
        """The mutes that hold for a scope; of one group, that of all tenants first."""
        found = await self._db.run(
            "mutes", tenant_id=scope.tenant, definition=definition, fingerprint=fingerprint
        )
        return [
            Mute(
                definition=DefinitionKey(row["definition"]),
                fingerprint=row["fingerprint"],
                tenant=TenantId(row["tenant_id"]) if row["tenant_id"] else None,
                muted_at=rows.instant(row["muted_at"]),
                muted_by=row["muted_by"],
                muted_until=rows.optional_instant(row["muted_until"]),
                reason=row["reason"],
            )
            for row in found
        ]

    async def count_muted_dead(self, definition: str, *, look: int = 50_000) -> MutedDeadCount:
        """Count the jobs of a definition that were dead-lettered lately for causes muted for all.

        Of very many the newest `look` are counted.
        """
        [row] = await self._db.run("count_muted_dead", definition=definition, look=look)
        return MutedDeadCount(int(row["hour"]), int(row["day"]))

    async def prune_mutes(self) -> int:
        """Forget mutes whose time is over. Answers how many."""
        return len(await self._db.run("prune_mutes"))
