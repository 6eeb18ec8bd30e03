"""Every way to create or change work checks that the caller may enqueue the definition.

The ways are the API's own list of routes and the engine's own list of verbs: a new one that stands in
no table here fails a test.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from tests.api.authenticated_api import Guarded, guarding
from tests.support import job_builders
from windlass import Windlass, cron
from windlass.core.access.principal import local
from windlass.core.jobs.models import ALL_TENANTS, DEFAULT_TENANT
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState
from windlass.engine.jobs.dead import DeadLetters
from windlass.engine.jobs.jobs import Jobs
from windlass.engine.jobs.operations import Operations
from windlass.engine.triggers.events import Events
from windlass.engine.triggers.triggers import Triggers
from windlass.ids import DefinitionKey, QueueName
from windlass.upkeep.bulk_operations import OperationRunner
from windlass.upkeep.scheduler import Scheduler

PERMISSION = "payroll.run"
#: One definition that asks for a permission, and one of Windlass's own.
PAYROLL, HOUSEKEEPING = "payroll", "housekeeping"
CAUSE = "c" * 12
PAYLOAD = {"n": 1}


@dataclass
class Stage:
    """Jobs and triggers of a restricted definition, in the state a route needs."""

    guarded: Guarded
    definition: str
    named: int = 0

    @property
    def wl(self) -> Windlass:
        return self.guarded.wl

    async def job(self, state: JobState, **about: Any) -> str:
        storage = (await self.wl.ready()).storage
        key = DefinitionKey(self.definition)
        return str((await job_builders.a_job(storage, state, definition=key, **about)).id)

    async def later(self) -> str:
        return await self.job(JobState.QUEUED, delay=timedelta(hours=1))

    async def dead(self) -> str:
        storage = (await self.wl.ready()).storage
        key, queue = DefinitionKey(self.definition), QueueName(self.name())
        await job_builders.enqueue(storage, definition=key, queue=queue)
        [lease] = await job_builders.claim(storage, known=[key], queues=[queue])
        await job_builders.end(storage, lease, JobState.DEAD_LETTER, fingerprint=CAUSE)
        return str(lease.job_id)

    async def schedule(self, **about: Any) -> str:
        created = await self.wl.schedules.create(
            self.name(), definition=self.definition, schedule="0 2 * * *", payload=PAYLOAD, **about
        )
        return str(created.id)

    async def trigger(self, **about: Any) -> str:
        created = await self.wl.triggers.create(
            self.name(), definition=self.definition, event="closed", payload=PAYLOAD, **about
        )
        return str(created.id)

    async def declared(self) -> str:
        """The schedule of the definition that is declared in code."""
        storage = (await self.wl.ready()).storage
        [id] = [
            each.id
            for each in await storage.triggers.triggers(ALL_TENANTS)
            if (each.definition, each.origin) == (self.definition, "code")
        ]
        return str(id)

    async def canceled_in_bulk(self) -> str:
        engine = await self.wl.ready()
        await self.job(JobState.QUEUED)
        begun = await engine.operations.create(
            local(),
            "cancel",
            JobQuery.of(definition=self.definition),
            query="",
            tenant=DEFAULT_TENANT,
        )
        await OperationRunner(engine).tick()
        return str(begun.id)

    def name(self) -> str:
        self.named += 1
        return f"name {self.named}"

    async def look(self) -> object:
        """All jobs and triggers of the definition, with every field that can be changed."""
        engine = await self.wl.ready()
        page = await engine.lists.page(
            JobQuery.of(definition=self.definition), scope=ALL_TENANTS, after=None, limit=500
        )
        jobs = [await job_builders.job(engine.storage, job.id) for job in page.jobs]
        rows = [
            (t.id, t.name, t.enabled, str(t.payload), t.cron, t.saved_by)
            for t in await engine.storage.triggers.triggers(ALL_TENANTS)
            if t.definition == self.definition
        ]
        operations = await engine.storage.jobs.operations(ALL_TENANTS)
        return (
            [(j.id, j.state, str(j.payload), j.due_at, j.queue, j.priority) for j in jobs],
            rows,
            [each.id for each in operations],
        )


Prepare = Callable[[Stage], Awaitable[tuple[Mapping[str, str], Any]]]


async def _new_job(stage: Stage) -> tuple[Mapping[str, str], Any]:
    return {}, {"definition": stage.definition, "payload": PAYLOAD}


async def _new_jobs(stage: Stage) -> tuple[Mapping[str, str], Any]:
    _, job = await _new_job(stage)
    return {}, {"jobs": [job]}


async def _later(stage: Stage) -> tuple[Mapping[str, str], Any]:
    return {"job_id": await stage.later()}, {"priority": "high"}


async def _dead(stage: Stage) -> tuple[Mapping[str, str], Any]:
    return {"job_id": await stage.dead()}, None


async def _dead_edited(stage: Stage) -> tuple[Mapping[str, str], Any]:
    return {"job_id": await stage.dead()}, {"payload": {"n": 2}}


async def _group(stage: Stage) -> tuple[Mapping[str, str], Any]:
    await stage.dead()
    return {}, {"definition": stage.definition, "fingerprint": CAUSE}


async def _bulk(stage: Stage) -> tuple[Mapping[str, str], Any]:
    await stage.dead()
    return {}, {"action": "retry", "q": f"definition:{stage.definition} state:dead_letter"}


async def _undo(stage: Stage) -> tuple[Mapping[str, str], Any]:
    return {"id": await stage.canceled_in_bulk()}, None


async def _new_schedule(stage: Stage) -> tuple[Mapping[str, str], Any]:
    about = {"name": stage.name(), "definition": stage.definition, "payload": PAYLOAD}
    return {}, {**about, "type": "cron", "cron": "0 2 * * *"}


async def _schedule_edit(stage: Stage) -> tuple[Mapping[str, str], Any]:
    return {"id": await stage.schedule()}, {"payload": {"n": 2}}


async def _schedule_off(stage: Stage) -> tuple[Mapping[str, str], Any]:
    return {"id": await stage.schedule(enabled=False)}, None


async def _schedule(stage: Stage) -> tuple[Mapping[str, str], Any]:
    return {"id": await stage.schedule()}, None


async def _new_trigger(stage: Stage) -> tuple[Mapping[str, str], Any]:
    about = {"name": stage.name(), "definition": stage.definition, "payload": PAYLOAD}
    return {}, {**about, "type": "event", "event_name": "closed"}


async def _trigger_edit(stage: Stage) -> tuple[Mapping[str, str], Any]:
    return {"id": await stage.trigger()}, {"payload": {"n": 2}}


async def _trigger_off(stage: Stage) -> tuple[Mapping[str, str], Any]:
    return {"id": await stage.trigger(enabled=False)}, None


async def _declared(stage: Stage) -> tuple[Mapping[str, str], Any]:
    return {"id": await stage.declared()}, None


#: A route that creates or changes work -> its request.
GATED: Mapping[str, Prepare] = {
    "POST /jobs": _new_job,
    "POST /jobs/batch": _new_jobs,
    "PATCH /jobs/{job_id}": _later,
    "POST /jobs/{job_id}/retry": _dead,
    "POST /jobs/{job_id}/run-now": _later,
    "POST /jobs/{job_id}/clone": _dead,
    "POST /dead/groups/retry": _group,
    "POST /dead/{job_id}/retry": _dead,
    "POST /dead/{job_id}/edit-retry": _dead_edited,
    "POST /operations/preview": _bulk,
    "POST /operations": _bulk,
    "POST /operations/{id}/undo": _undo,
    "POST /schedules": _new_schedule,
    "PATCH /schedules/{id}": _schedule_edit,
    "POST /schedules/{id}/enable": _schedule_off,
    "POST /schedules/{id}/reset": _declared,
    "POST /schedules/{id}/run": _schedule,
    "POST /triggers": _new_trigger,
    "PATCH /triggers/{id}": _trigger_edit,
    "POST /triggers/{id}/enable": _trigger_off,
    "POST /triggers/{id}/reset": _declared,
}
#: Writes that make no work: they end or delete it, steer who does it, or are about something else.
#: Events make jobs under the right that their triggers were saved under; see below.
UNGATED = frozenset(
    {
        "POST /jobs/{job_id}/cancel",
        "POST /jobs/{job_id}/reveal",
        "POST /dead/groups/discard",
        "POST /dead/groups/mute",
        "POST /dead/groups/unmute",
        "DELETE /dead/{job_id}",
        "DELETE /jobs/{job_id}",
        "POST /operations/{id}/stop",
        "DELETE /schedules/{id}",
        "POST /schedules/{id}/disable",
        "DELETE /triggers/{id}",
        "POST /triggers/{id}/disable",
        "POST /triggers/{id}/test",
        "POST /events",
        "POST /events/{id}/replay",
    }
)
#: Nouns that have no work of a tenant: definitions and queues are for who reaches all tenants anyway.
OTHER_NOUNS = (
    "audit",
    "definitions",
    "notifications",
    "queues",
    "workers",
    "worker",
    "tenants",
    "members",
    "users",
    "tokens",
    "password",
    "sessions",
    "invitations",
)


@pytest.fixture
async def guarded(wl):
    @wl.job(
        PAYROLL, requires_permission=PERMISSION, schedule=cron("0 4 * * *"), default_payload=PAYLOAD
    )
    def payroll(n: int) -> int:
        return n

    @wl.job(HOUSEKEEPING, system=True, schedule=cron("0 4 * * *"), default_payload=PAYLOAD)
    def housekeeping(n: int) -> int:
        return n

    async with guarding(wl) as guarded:
        yield guarded


#: Who -> the role and permissions of a token, and the definitions that it may enqueue.
CALLERS = {
    "user": ("user", (), ()),
    "admin": ("tenant_admin", (), ()),
    "admin with the permission": ("tenant_admin", (PERMISSION,), (PAYROLL,)),
    "superadmin": ("superadmin", (), (PAYROLL, HOUSEKEEPING)),
}


@pytest.mark.parametrize("definition", [PAYROLL, HOUSEKEEPING])
@pytest.mark.parametrize("who", CALLERS)
async def test_creating_or_changing_work_needs_enqueue_permission(guarded, who, definition):
    role, permissions, allowed = CALLERS[who]
    tenant = None if role == "superadmin" else DEFAULT_TENANT
    token = await guarded.token(role, tenant, permissions=permissions)
    stage = Stage(guarded, definition)
    declared = await stage.declared()  # in the tenant `system`, if the definition is

    for way, prepare in GATED.items():
        method, path = way.split()
        values, body = await prepare(stage)
        before = await stage.look()
        for name, value in values.items():
            path = path.replace(f"{{{name}}}", value)
        response = await guarded.client.request(method, f"/api/v1{path}", headers=token, json=body)

        if definition in allowed:
            assert response.is_success, (way, response.text)
        else:
            hidden = (
                way.endswith("/clone")  # another user's job
                if role == "user"
                else values.get("id") == declared and definition == HOUSEKEEPING
            )
            assert response.status_code == (404 if hidden else 403), (way, response.text)
            assert await stage.look() == before, way


def test_every_writing_route_is_classified(guarded):
    writes = {
        f"{method} {path.removeprefix('/api/v1')}"
        for method, path, _ in guarded.routes()
        if method != "GET" and path.split("/")[3] not in OTHER_NOUNS
    }

    assert writes == {*GATED, *UNGATED}


#: Verbs that only look, that end work, or that work on what was allowed when it was begun.
UNGATED_VERBS = {
    Jobs: {
        "get", "resolve", "cancel", "discard", "attempts", "history", "logs", "family", "explain",
        "wait", "receipt", "refuse", "check_parents", "check_repeated", "opened",
        "reveal", "prepare", "hooked",
        # In the program's own transaction, or in bulk: these are not called on behalf of another.
        "enqueue_many", "enqueue_in", "joined",
    },
    DeadLetters: {"groups", "list", "discard", "discard_group"},
    Triggers: {
        "get", "list", "last_outcomes", "schedules", "reschedule", "disable", "warnings", "warnings_of",
        "preview", "delete",
    },
    Operations: {"prune"},
    Events: {
        "make", "emit", "emit_in", "match_after_commit", "match_soon", "close", "get", "list",
        "replay", "match_waiting", "match",
    },
}  # fmt: skip


@pytest.mark.parametrize("noun", UNGATED_VERBS, ids=lambda noun: noun.__name__)
def test_every_verb_that_creates_work_takes_the_caller(noun):
    verbs = {
        name: inspect.signature(verb).parameters
        for name, verb in inspect.getmembers(noun, inspect.isfunction)
        if not name.startswith("_")
    }

    without = {name for name, parameters in verbs.items() if "by" not in parameters}
    assert without == UNGATED_VERBS[noun]


async def test_a_refused_retry_gives_the_reason_and_is_audited(guarded):
    admin = await guarded.token("tenant_admin", DEFAULT_TENANT)
    id = await Stage(guarded, PAYROLL).dead()

    response = await guarded.client.post(f"/api/v1/jobs/{id}/retry", headers=admin)

    entries = (await guarded.client.get("/api/v1/audit", headers=admin)).json()["items"]
    assert response.json()["code"] == "WL5102"
    assert "payroll requires the permission payroll.run" in response.text
    assert (entries[0]["action"], entries[0]["outcome"]) == ("jobs.retry", "refused")


class TestSavedTriggers:
    """A trigger fires under the rights of the user who saved it, while they have them."""

    async def saved_schedule(self, guarded, token):
        about = {"name": "pay", "definition": PAYROLL, "type": "init", "payload": PAYLOAD}
        created = await guarded.client.post("/api/v1/schedules", json=about, headers=token)
        assert created.status_code == 201, created.text
        return created.json()

    async def fire(self, guarded):
        engine = await guarded.wl.ready()
        return await Scheduler(engine, tick_seconds=1).tick()

    async def test_a_trigger_records_who_saved_it(self, guarded):
        token = await guarded.token("tenant_admin", DEFAULT_TENANT, permissions=[PERMISSION])
        me = (await guarded.client.get("/api/v1/whoami", headers=token)).json()

        created = await self.saved_schedule(guarded, token)

        assert created["saved_by"] == f"token:{me['id']}"
        assert await self.fire(guarded) > 0

    async def test_a_schedule_is_disabled_when_its_owner_loses_the_right(self, guarded):
        token = await guarded.token("tenant_admin", DEFAULT_TENANT, permissions=[PERMISSION])
        created = await self.saved_schedule(guarded, token)
        engine = await guarded.wl.ready()
        [token_row] = await engine.tokens.list(local())
        await engine.tokens.revoke(local(), token_row.id)

        fired = await self.fire(guarded)

        stopped = await engine.triggers.get(created["id"])
        assert (fired, stopped.enabled) == (0, False)
        assert "the right it was saved under is gone" in stopped.last_error
        assert "is gone, disabled or revoked" in stopped.last_error

    async def test_an_event_trigger_is_disabled_when_its_owner_loses_the_permission(self, guarded):
        engine = await guarded.wl.ready()
        user = await engine.users.create(local(), "ada", password="correct horse battery")
        by = await engine.access.user(user.id, "ada", superadmin=True)
        created = await engine.triggers.create(
            "pay", definition=PAYROLL, event="closed", payload=PAYLOAD, by=by
        )

        await guarded.wl.emit("closed", {})

        stopped = await engine.triggers.get(str(created.id))
        assert (created.saved_by, stopped.enabled) == (f"user:{user.id}", False)
        assert "needs the right jobs.enqueue in tenant default" in stopped.last_error
        assert not (await guarded.wl.jobs.list(definition=PAYROLL)).jobs

    async def test_enabling_a_trigger_makes_the_caller_its_owner(self, guarded):
        token = await guarded.token("tenant_admin", DEFAULT_TENANT, permissions=[PERMISSION])
        created = await self.saved_schedule(guarded, token)
        engine = await guarded.wl.ready()
        [token_row] = await engine.tokens.list(local())
        await engine.tokens.revoke(local(), token_row.id)
        await self.fire(guarded)
        boss = await guarded.token("superadmin")

        on = await guarded.client.post(f"/api/v1/schedules/{created['id']}/enable", headers=boss)

        me = (await guarded.client.get("/api/v1/whoami", headers=boss)).json()
        assert (on.json()["enabled"], on.json()["last_error"]) == (True, None)
        assert on.json()["saved_by"] == f"token:{me['id']}"

    async def test_disabling_a_trigger_needs_no_enqueue_permission(self, guarded):
        id = await Stage(guarded, PAYROLL).schedule()
        admin = await guarded.token("tenant_admin", DEFAULT_TENANT)

        off = await guarded.client.post(f"/api/v1/schedules/{id}/disable", headers=admin)

        assert off.json()["enabled"] is False
        assert (off.json()["saved_by"], off.status_code) == (None, 200)

    async def test_an_unrestricted_schedule_survives_its_owner(self, guarded):
        @guarded.wl.job
        def report(n: int) -> int:
            return n

        await guarded.wl.ready()
        token = await guarded.token("tenant_admin", DEFAULT_TENANT)
        about = {"name": "r", "definition": "report", "type": "init", "payload": PAYLOAD}
        await guarded.client.post("/api/v1/schedules", json=about, headers=token)
        engine = await guarded.wl.ready()
        [token_row] = await engine.tokens.list(local())
        await engine.tokens.revoke(local(), token_row.id)

        assert await self.fire(guarded) > 0


class TestReplace:
    """`on_duplicate: replace` rewrites a waiting job only for a caller who may change it."""

    @pytest.fixture
    def report(self, guarded):
        @guarded.wl.job
        def report(n: int) -> int:
            return n

        @guarded.wl.job
        def other(n: int) -> int:
            return n

        return report

    async def ask(self, guarded, token, n, definition="report"):
        about = {"definition": definition, "payload": {"n": n}, "dedupe_key": "k"}
        body = {**about, "delay_seconds": 3600, "on_duplicate": "replace"}
        response = await guarded.client.post("/api/v1/jobs", json=body, headers=token)
        assert response.is_success, response.text
        return response.json()["receipt"]

    async def test_a_user_cannot_edit_another_users_job(self, guarded, report):
        ada = await guarded.token("user", DEFAULT_TENANT)
        bob = await guarded.token("user", DEFAULT_TENANT)
        first = await self.ask(guarded, ada, 1)

        second = await self.ask(guarded, bob, 2)

        job = await guarded.wl.jobs.get(first["job_id"])
        assert (second["status"], job.payload) == ("existing", {"n": 1})

    async def test_a_user_edits_an_own_job_and_the_history_shows_it(self, guarded, report):
        ada = await guarded.token("user", DEFAULT_TENANT)
        first = await self.ask(guarded, ada, 1)

        await self.ask(guarded, ada, 2)

        job = await guarded.wl.jobs.get(first["job_id"])
        steps = await guarded.wl.jobs.history(first["job_id"])
        assert job.payload == {"n": 2}
        assert (steps[-1].actor, steps[-1].message) == (
            job.created_by,
            "replaced by a newer job with its dedupe key",
        )

    async def test_an_admin_edits_a_tenants_job_but_not_of_other_definitions(self, guarded, report):
        ada = await guarded.token("user", DEFAULT_TENANT)
        admin = await guarded.token("tenant_admin", DEFAULT_TENANT)
        first = await self.ask(guarded, ada, 1)

        other = await self.ask(guarded, admin, 2, "other")
        untouched = (await guarded.wl.jobs.get(first["job_id"])).payload
        await self.ask(guarded, admin, 3)

        assert (other["status"], other["job_id"]) == ("existing", first["job_id"])
        assert untouched == {"n": 1}
        assert (await guarded.wl.jobs.get(first["job_id"])).payload == {"n": 3}
