"""Causes that people know of and do not want to hear of: muted for a time, or until they are unmuted."""

from collections.abc import Mapping
from datetime import timedelta

from windlass.core.durations import duration
from windlass.core.jobs.dead import Mute
from windlass.core.jobs.dedupe import check_stored
from windlass.core.jobs.fingerprint import check_fingerprint
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState
from windlass.core.text import clean
from windlass.errors import DeadGroupNotFound, OptionInvalid
from windlass.ids import DefinitionKey
from windlass.storage.jobs.mutes import MutedDeadCount
from windlass.storage.storage import Storage

_REASON_BYTES = 1024


class Mutes:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def mute(
        self,
        definition: str,
        fingerprint: str,
        *,
        lasts: str | timedelta | float | None = None,
        reason: str | None = None,
        actor: str | None = None,
        scope: Scope = ALL_TENANTS,
    ) -> Mute:
        """Leave a group out of `groups` and of verdicts: for so long, or until it is unmuted.

        With the scope of a tenant it is muted for that tenant, else for all of them.
        """
        _check(definition, fingerprint)
        time = None if lasts is None else duration(lasts, option="lasts")
        if time is not None and not time:
            raise OptionInvalid("lasts", lasts, allowed="longer than nothing")
        await self._check_there(definition, fingerprint, scope)
        await self._storage.jobs.mute(
            scope,
            definition,
            fingerprint,
            lasts=time,
            by=actor,
            reason=None if reason is None else clean(reason, _REASON_BYTES),
        )
        return await self._now(definition, fingerprint, scope)

    async def unmute(
        self, definition: str, fingerprint: str, *, scope: Scope = ALL_TENANTS
    ) -> Mute:
        """Take a mute back. The answer tells if one holds nevertheless: what is muted for all tenants
        stays so for each of them."""
        _check(definition, fingerprint)
        await self._storage.jobs.unmute(scope, definition, fingerprint)
        return await self._now(definition, fingerprint, scope)

    async def dead_lettered(self) -> Mapping[str, MutedDeadCount]:
        """Definition -> how many of its jobs were dead-lettered lately for causes muted for all."""
        muted = {mute.definition for mute in await self._storage.jobs.mutes(ALL_TENANTS)}
        return {each: await self._storage.jobs.count_muted_dead(each) for each in sorted(muted)}

    async def prune(self) -> int:
        """Forget mutes whose time is over. Answers how many."""
        return await self._storage.jobs.prune_mutes()

    async def _check_there(self, definition: str, fingerprint: str, scope: Scope) -> None:
        group = JobQuery.of(
            states=[JobState.DEAD_LETTER], definition=definition, fingerprint=fingerprint
        )
        if not (await self._storage.jobs.page(scope, group, limit=1)).jobs:
            raise DeadGroupNotFound(definition, fingerprint)

    async def _now(self, definition: str, fingerprint: str, scope: Scope) -> Mute:
        held = await self._storage.jobs.mutes(scope, definition=definition, fingerprint=fingerprint)
        # Its own word is what a tenant wants to read back, if there are both.
        own = [mute for mute in held if mute.tenant == scope.tenant] or held
        return (
            own[0] if own else Mute(definition=DefinitionKey(definition), fingerprint=fingerprint)
        )


def _check(definition: str, fingerprint: str) -> None:
    check_stored("definition", definition)
    check_fingerprint(fingerprint)
