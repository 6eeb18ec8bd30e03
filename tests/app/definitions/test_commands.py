"""Commands as an application declares and enqueues them, on each database."""

import json
import sys

import pytest

from tests.support.wait import until
from windlass import Settings, Windlass, every, sync
from windlass.core.jobs.states import JobState
from windlass.errors import (
    CommandTemplateInvalid,
    DefinitionDisabled,
    DefinitionInvalid,
    PayloadInvalid,
)
from windlass.testing import TestWindlass

UUID = "0198c0de-0000-7000-8000-000000000001"
SCHEMA = {
    "properties": {
        "provider_id": {"type": "string", "format": "uuid"},
        "path_prefix": {"type": "string"},
        "dry_run": {"type": "boolean"},
        "folder": {"type": "string"},
    },
    "required": ["provider_id"],
}
#: Says its arguments as JSON, and stands for any program.
ECHO = [sys.executable, "-c", "import json, sys; print(json.dumps(sys.argv[1:]))"]
OPTIONS = {"path_prefix": "--path-prefix", "dry_run": "--dry-run"}


@pytest.fixture
def sync_dropbox(wl):
    return wl.command(
        "sync-dropbox",
        [*ECHO, "sync-dropbox", "--provider-id={provider_id}"],
        payload_schema=SCHEMA,
        options=OPTIONS,
        result="json",
        max_attempts=1,
        tags=["dropbox"],
        max_concurrency=2,
    )


async def test_a_command_is_enqueued_and_run_like_any_job(wl, sync_dropbox, ended):
    await wl.tenants.create("acme")
    acme_sync = sync_dropbox.options(tenant="acme", priority="high")

    job = await ended(await acme_sync.enqueue(provider_id=UUID, path_prefix="/in", dry_run=True))

    assert (job.state, job.tenant, job.priority) == (JobState.COMPLETED, "acme", 50)
    assert job.result == [
        "sync-dropbox", f"--provider-id={UUID}", "--tenant-id", "acme", "--path-prefix=/in",
        "--dry-run",
    ]  # fmt: skip
    [attempt] = await wl.jobs.attempts(job.id)
    assert (attempt.exit_code, json.loads(attempt.stdout_tail)) == (0, job.result)
    assert attempt.pid
    [line] = await wl.jobs.logs(job.id)
    assert json.loads(line.message) == job.result


async def test_a_commands_definition_is_stored_for_other_programs(wl, sync_dropbox):
    definition = await wl.definitions.get("sync-dropbox")

    assert (definition.kind, definition.timeout_seconds) == ("command", 3600)
    assert (definition.isolation, definition.max_concurrency) == ("process", 2)
    assert sync_dropbox.handler.definition.handler.endswith(
        "sync-dropbox --provider-id={provider_id} --tenant-id {tenant} "
        "[--path-prefix={path_prefix}] [--dry-run={dry_run}]"
    )
    assert json.loads(definition.payload_schema)["additionalProperties"] is False


@pytest.mark.parametrize(
    "payload", [{}, {"provider_id": "7"}, {"provider_id": UUID, "tenant_id": "globex"}]
)
async def test_a_payload_outside_the_schema_is_refused_at_enqueue(wl, sync_dropbox, payload):
    with pytest.raises(PayloadInvalid):
        await sync_dropbox.enqueue(**payload)
    with pytest.raises(PayloadInvalid):
        await wl.enqueue("sync-dropbox", payload)

    assert not (await wl.jobs.list()).jobs


@pytest.mark.parametrize(
    "hostile",
    ["--tenant-id=globex", "-rf", "$(reboot)", "; rm -rf /", "a\nb", "'\"`", "{provider_id}", "--"],
)
async def test_a_hostile_value_never_becomes_an_option_or_a_command(wl, ended, hostile):
    text = {"properties": {"text": {"type": "string"}}, "required": ["text"]}
    placed = wl.command("placed", [*ECHO, "{text}"], payload_schema=text, result="json")
    flagged = wl.command(
        "flagged", ECHO, payload_schema=text, options={"text": "--text"}, result="json"
    )

    behind = await ended(await flagged.enqueue(text=hostile))
    alone = await ended(await placed.enqueue(text=hostile))

    assert behind.result == ["--tenant-id", "default", f"--text={hostile}"]
    if hostile.startswith("-"):
        assert (alone.state, alone.attempts) == (JobState.DEAD_LETTER, 1)
        assert "begins with a dash" in alone.last_error
        assert not (await wl.jobs.attempts(alone.id))[0].pid
    else:
        assert alone.result == [hostile, "--tenant-id", "default"]


async def test_a_queued_job_of_a_disabled_command_waits(wl, sync_dropbox):
    receipt = await sync_dropbox.enqueue(provider_id=UUID)
    await wl.definitions.disable("sync-dropbox")
    with pytest.raises(DefinitionDisabled):
        await sync_dropbox.enqueue(provider_id=UUID)

    await _runs_by(wl)
    assert (await wl.jobs.get(receipt.job_id)).attempts == 0
    assert (await wl.jobs.explain(receipt.job_id)).code == "definition_disabled"

    await wl.definitions.enable("sync-dropbox")
    async with wl.running():
        assert await (await wl.jobs.get(receipt.job_id)).wait("30s")


async def test_a_worker_runs_only_commands_it_declares(wl, sync_dropbox, database):
    receipt = await sync_dropbox.enqueue(provider_id=UUID)
    other = Windlass(database.url, settings=Settings())
    assert (await other.definitions.get("sync-dropbox")).kind == "command"

    await _runs_by(other)

    assert (await wl.jobs.get(receipt.job_id)).attempts == 0
    await other.close()


async def _runs_by(wl):
    """Run all jobs of a worker once."""

    @wl.job("last", priority="low")
    async def last() -> None: ...

    async with wl.running():
        await (await wl.jobs.get((await last.enqueue()).job_id)).wait("30s")


async def test_a_schedule_enqueues_a_command(wl):
    wl.command("tick", ["true"], schedule=every("1h"))

    async with wl.running():
        job = await until(lambda: _first(wl))

    assert (job.definition, job.source) == ("tick", "schedule")


async def _first(wl):
    return next(iter((await wl.jobs.list(states=["completed"])).jobs), None)


def test_commands_work_in_the_blocking_api(database):
    with sync.Windlass(database.url, settings=Settings()) as wl:
        echo = wl.command("echo", [*ECHO, "hi"], result="json", tenant_flag=None)
        with wl.running():
            job = wl.jobs.get(echo.enqueue().job_id)
            assert job.wait("30s") == ["hi"]
        assert len(wl.enqueue_many([echo.make(), echo.make()])) == 2


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_commands_run_in_tests(wl, sync_dropbox):
    async with TestWindlass(wl) as test:
        await sync_dropbox.enqueue(provider_id=UUID)
        job = await test.assert_enqueued(sync_dropbox, provider_id=UUID)

        await test.run_all()

        assert (await wl.jobs.get(job.id)).result[0] == "sync-dropbox"


async def test_calling_a_command_raises_with_a_hint(wl, sync_dropbox):
    with pytest.raises(TypeError, match="only a worker runs it"):
        await sync_dropbox()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
class TestMistakes:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"isolation": "thread"}, "no option of a command"),
            ({"permanent": [ValueError]}, "exit_codes"),
            ({"enviroment": []}, "'enviroment' is no option of a command"),
            ({"env": "PATH"}, "a list of names"),
            ({"env": ["A=B"]}, "a list of names"),
            ({"env_values": {"A": 1}}, "names of variables and texts"),
            ({"memory_limit_mb": 0}, "1 to"),
            ({"cpu_seconds": 1.5}, "1 to"),
            ({"result": "xml"}, "'exit_code' or 'json'"),
            ({"grace": "10m"}, "300 seconds"),
            ({"timeout": 0}, "more than 0"),
            ({"payload_schema": {"type": 7}}, "cannot be used"),
            ({"max_attempts": 0}, "1 to 100"),
        ],
    )
    def test_an_invalid_option_is_refused(self, wl, options, said):
        with pytest.raises(DefinitionInvalid) as caught:
            wl.command("bad", ["tool"], **options)

        assert said in str(caught.value)
        assert "bad" not in wl.handlers

    def test_a_string_is_not_an_argument_list(self, wl):
        with pytest.raises(DefinitionInvalid, match="no shell"):
            wl.command("bad", "tool --all")

    def test_an_invalid_argument_list_is_refused(self, wl):
        with pytest.raises(CommandTemplateInvalid, match="the payload schema has no field"):
            wl.command("bad", ["tool", "{folder}"])

    def test_another_command_with_the_same_key_is_refused(self, wl):
        wl.command("twice", ["tool", "a"])
        wl.command("twice", ["tool", "a"])

        with pytest.raises(DefinitionInvalid, match=r"by wl.command as `tool b"):
            wl.command("twice", ["tool", "b"])
