"""The verbs of the command line on a database it opens itself: what they answer is JSON.

Commands see only what stands here, so that they can speak to a server the same way.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from typing import Any, Literal

from windlass.app import Windlass
from windlass.core import wire
from windlass.core.accounts import LinkPurpose
from windlass.core.models import Job
from windlass.core.payload import load_json
from windlass.core.principal import local
from windlass.core.redact import Redactor
from windlass.engine.engine import Engine
from windlass.engine.redaction import redactor_of
from windlass.engine.users import OneTimeLink
from windlass.errors import DefinitionNotFound, OptionInvalid
from windlass.face.nouns import JobsFace
from windlass.face.options import OptionNames
from windlass.ids import parse_job_id
from windlass.telemetry import Telemetry

Shown = dict[str, Any]
Change = Literal["cancel", "retry", "run_now"]


class Unheard(Telemetry):
    """For a command that asks one thing: what a worker logs about its database is not for it."""

    def note(self, event: str, **about: object) -> None:
        """Not told."""

    def warn(self, event: str, **about: object) -> None:
        """Not told."""


#: A wait without a limit.
_FOREVER = timedelta(days=36_500)
_LINES = 1000


class Local:
    """One app, seen by one person; with a tenant, only that tenant's jobs."""

    def __init__(self, app: Windlass, *, tenant: str | None, actor: str | None) -> None:
        self.app = app
        self._tenant = tenant
        self._actor = actor

    @property
    def engine(self) -> Engine:
        """The engine, whether its database is ready or not."""
        return self.app.engine

    async def learn(self, modules: Sequence[str]) -> None:
        """Make what these modules declare known, as a worker that imports them would."""
        from windlass.cli.loading import load_apps

        await self.app.close()
        for app in load_apps(modules):
            for handler in app.handlers.values():
                self.app.handlers.add(handler)
        await self.app.ready()

    async def new_token(self, name: str, *, role: str, expires: str | None) -> str:
        """The secret of a new token; who has the database in hand needs no other credential."""
        engine = await self.app.ready()
        by = local(name=self._actor or "local")
        made = await engine.tokens.create(by, name, role=role, tenant=self._tenant, expires=expires)
        return made.secret

    async def new_link(self, name: str, purpose: LinkPurpose, *, make: bool) -> OneTimeLink:
        """A link for a user; with `make` one who is made, and administers everything."""
        engine = await self.app.ready()
        by = local(name=self._actor or "local")
        if make:
            await engine.users.create(by, name, superadmin=True)
        return await engine.users.link(by, name, purpose)

    async def users(self) -> Sequence[Shown]:
        """All users, by name."""
        engine, by = await self.app.ready(), local(name=self._actor or "local")
        found: list[Shown] = []
        while page := await engine.users.list(by, after=found[-1]["name"] if found else None):
            found.extend(wire.fields_of(user) for user in page)
        return found

    async def schema(self, definition: str) -> Mapping[str, Any]:
        """The payload schema of a definition."""
        engine = await self.app.ready()
        schema: Mapping[str, Any] = load_json(
            (await engine.definitions.get(definition)).payload_schema
        )
        return schema

    async def enqueue(
        self, definition: str, payload: Mapping[str, Any], options: OptionNames, *, dry_run: bool
    ) -> Shown:
        """Store a job, or only check that it could be; the receipt and the job."""
        options = {**options, "created_by": self._actor} if self._actor else options
        if self._tenant:
            options = {**options, "tenant": self._tenant}
        if "after" in options:
            options = {**options, "after": [await self._whole(id) for id in options["after"]]}
        if dry_run:
            await self.app.make(definition, payload, **options)
            return {"status": "valid", "job_id": None, "because": None, "job": None}
        receipt = await self.app.enqueue(definition, payload, **options)
        return {**wire.receipt(receipt), "job": await self.job(str(receipt.job_id))}

    async def jobs(self, *, cursor: str | None, limit: int, **chosen: Any) -> Shown:
        """A page of jobs, newest first."""
        after = None if cursor is None else _cursor(cursor)
        page = await self._face.list(after=after, limit=limit, **chosen)
        return wire.page(page, now=await self._now(), redactor=self._redactor)

    async def job(self, id: str) -> Shown:
        """One job, whole."""
        return await self._shown(await self._face.get(id))

    async def change(self, verb: Change, id: str, *, reason: str | None = None) -> Shown:
        """Cancel, retry or run now; the job as it is then."""
        match verb:
            case "cancel":
                job = await self._face.cancel(id, actor=self._actor, reason=reason)
            case "retry":
                job = await self._face.retry(id, actor=self._actor)
            case _:
                job = await self._face.run_now(id, actor=self._actor)
        return await self._shown(job)

    async def attempts(self, id: str) -> Sequence[Shown]:
        return [wire.attempt(one, self._redactor) for one in await self._face.attempts(id)]

    async def history(self, id: str) -> Sequence[Shown]:
        return [wire.transition(one, self._redactor) for one in await self._face.history(id)]

    async def explain(self, id: str) -> Shown:
        """Why a job is not running."""
        reason = await self._face.explain(id)
        return {"code": reason.code, "sentence": reason.sentence, "hint": reason.hint}

    async def logs(self, id: str, *, after: int = 0) -> AsyncIterator[Shown]:
        """A job's log lines past one already seen."""
        while lines := await self._face.logs(id, after=after, limit=_LINES):
            for line in lines:
                yield wire.line(line, self._redactor)
            after = lines[-1].sequence

    async def wait(self, id: str, timeout: timedelta | None) -> Shown:
        """The job once it has completed; JobFailed if it ends otherwise, WaitTimedOut."""
        return await self._shown(await self._face.wait(id, timeout or _FOREVER))

    async def _shown(self, job: Job) -> Shown:
        try:
            schema = await self.schema(job.definition)
        except DefinitionNotFound:
            schema = {}
        return wire.job(job, now=await self._now(), redactor=self._redactor, schema=schema)

    async def _whole(self, id: object) -> str:
        return str((await self._face.get(str(id))).id)

    async def _now(self) -> Any:
        return await self.engine.now()

    @property
    def _face(self) -> JobsFace:
        return self.app.jobs.of(self._tenant) if self._tenant else self.app.jobs

    @cached_property
    def _redactor(self) -> Redactor:
        return redactor_of(self.app.settings)


def _cursor(text: str) -> Any:
    id = parse_job_id(text)
    if id is None:
        raise OptionInvalid("cursor", text, allowed="the next_cursor of the page before")
    return id
