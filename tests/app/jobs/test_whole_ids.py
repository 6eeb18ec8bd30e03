"""The Python API takes whole ids; `find` takes an id suffix."""

import inspect
from uuid import UUID

import pytest

from windlass.app import nouns
from windlass.core.jobs.models import WorkerRow
from windlass.core.triggers.schedule import cron
from windlass.errors import (
    AmbiguousId,
    EventNotFound,
    JobNotFound,
    OptionInvalid,
    TriggerNotFound,
    WorkerNotFound,
)
from windlass.ids import WorkerId

UNKNOWN = "0190a5d0-3c1f-7abc-8def-0123456789ab"


@pytest.fixture
def hello(wl):
    @wl.job
    def hello() -> None: ...

    return hello


#: What the verbs that take an id need besides it.
MORE = {"edit_retry": [{}]}
CHANGES = {"update": {"priority": 5}}


def verbs_with_ids(face):
    """The verbs of a noun that take an id, but for `find`."""
    for name, verb in inspect.getmembers(face, callable):
        if not name.startswith("_") and name != "find":
            parameters = list(inspect.signature(verb).parameters)
            if "id" in parameters[:2]:
                yield name


@pytest.mark.parametrize("spelled", [str, str.upper, lambda id: id.replace("-", "")])
async def test_a_job_is_read_by_its_whole_id(wl, hello, spelled):
    id = (await hello.enqueue()).job_id

    assert (await wl.jobs.get(id)).id == id
    assert (await wl.jobs.get(spelled(str(id)))).id == id
    with pytest.raises(JobNotFound):
        await wl.jobs.get(UNKNOWN)


@pytest.mark.parametrize("noun", ["jobs", "dead", "events"])
async def test_no_verb_takes_an_id_suffix(wl, hello, noun):
    job = (await hello.enqueue()).job_id
    event = (await wl.emit("happened")).id
    face = getattr(wl, noun)
    known = str(event if noun == "events" else job)
    verbs = list(verbs_with_ids(type(face)))

    for verb in verbs:
        for end in (known[-8:], known[1:], "42", "", "no id"):
            with pytest.raises(OptionInvalid, match="whole id") as caught:
                await getattr(face, verb)(end, *MORE.get(verb, []), **CHANGES.get(verb, {}))
            assert ".find" in caught.value.hint
    assert len(verbs) == {"jobs": 13, "dead": 3, "events": 2}[noun]


async def test_log_search_and_trigger_trials_take_whole_ids(wl, hello):
    job = (await hello.enqueue()).job_id
    event = (await wl.emit("happened")).id
    await wl.triggers.create("t", definition="hello", event="happened")

    assert list(await wl.logs.search(job=job)) == []
    assert (await wl.triggers.test("t", event=event)).matches
    with pytest.raises(OptionInvalid, match="whole id"):
        await wl.logs.search(job=str(job)[-8:])
    with pytest.raises(OptionInvalid, match="whole id"):
        await wl.triggers.test("t", event=str(event)[-8:])


async def test_a_job_is_found_by_its_id_suffix(wl, hello):
    id = (await hello.enqueue()).job_id

    assert (await wl.jobs.find(str(id)[-8:])).id == id
    assert (await wl.jobs.find(str(id))).id == id
    assert (await wl.jobs.of("default").find(str(id)[-8:])).id == id
    with pytest.raises(JobNotFound):
        await wl.jobs.of("acme").find(str(id)[-8:])
    with pytest.raises(JobNotFound):
        await wl.jobs.find("ffffffff")
    with pytest.raises(OptionInvalid, match="no job matches"):
        await wl.jobs.find("42")


async def test_an_ambiguous_suffix_is_an_error(wl, hello):
    created = hello.make()
    ids = [UUID(f"0190{n:04x}-0000-7000-8000-0000cafecafe") for n in range(2)]
    await wl.enqueue_many([created._replace(id=id) for id in ids])

    with pytest.raises(AmbiguousId):
        await wl.jobs.find("cafecafe")
    assert (await wl.jobs.get(ids[0])).id == ids[0]


async def test_events_triggers_and_workers_are_read_by_id_and_found_by_suffix(wl, hello):
    event = await wl.emit("happened")
    trigger = await wl.triggers.create("nightly", definition="hello", schedule=cron("0 2 * * *"))
    engine = await wl.ready()
    worker = WorkerRow(
        id=WorkerId("alder.example:4711"), hostname="alder", pid=1, version="1", queues=[],
        definitions=[], slots=1, slots_used=0, lease_seconds=30.0, metadata={},
    )  # fmt: skip
    await engine.workers.beat(worker)

    assert (await wl.events.get(event.id)).id == event.id
    assert (await wl.events.find(str(event.id)[-8:])).id == event.id
    with pytest.raises(EventNotFound):
        await wl.events.get(UNKNOWN)
    for known in ("nightly", str(trigger.id), trigger.id.hex):
        assert (await wl.schedules.get(known)).id == trigger.id
    assert (await wl.triggers.find(trigger.id.hex[-8:])).id == trigger.id
    for verb in verbs_with_ids(nouns.AsyncSchedules):
        with pytest.raises(TriggerNotFound):
            await getattr(wl.schedules, verb)(trigger.id.hex[-8:])
    assert (await wl.workers.get("alder.example:4711")).id == worker.id
    assert (await wl.workers.find("example:4711")).id == worker.id
    for verb in verbs_with_ids(nouns.AsyncWorkers):
        with pytest.raises(WorkerNotFound):
            await getattr(wl.workers, verb)("example:4711")


async def test_a_trigger_named_like_an_id_suffix_is_read_by_name(wl, hello):
    created = await wl.triggers.create("decade", definition="hello", schedule=cron("0 2 * * *"))

    assert (await wl.triggers.get("decade")).id == created.id
