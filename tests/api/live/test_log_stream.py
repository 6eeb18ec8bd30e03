"""`log:<id>` topics: new lines of one job's log, in order and once."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.api.live.test_stream import QUICK, of_header
from tests.api.stream_client import Listener, Served, serving
from windlass import JobContext
from windlass.api.app import create_api
from windlass.api.live.changes import Audience, SnapshotHistory, StreamChange
from windlass.api.live.log_poller import MOST_LINES, read_logs
from windlass.ids import new_job_id


class Talker:
    """A job that logs what a test tells it to, and waits."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[list[str] | None] = asyncio.Queue()

    def say(self, *lines: str) -> None:
        self.lines.put_nowait(list(lines))

    def end(self) -> None:
        self.lines.put_nowait(None)


@pytest.fixture
async def talker(wl) -> Talker:
    talker = Talker()

    @wl.job
    async def talk(ctx: JobContext) -> None:
        while (lines := await talker.lines.get()) is not None:
            for line in lines:
                ctx.log.info(line, password="hunter2", place=7)

    await wl.ready()
    return talker


@pytest.fixture
async def served(wl) -> AsyncIterator[Served]:
    async with serving(create_api(wl, authenticate=of_header, pace=QUICK)) as served:
        yield served


async def hear(listener: Listener, topic: str, last: int) -> list[dict]:
    """Lines up to this sequence number."""
    heard: list[dict] = []
    while not heard or heard[-1]["sequence"] < last:
        heard += await listener.changes(topic)
    return heard


async def test_new_lines_arrive_in_order_and_once(wl, served, talker):
    receipt = await wl.enqueue("talk")
    topic = f"log:{receipt.job_id}"

    async with served.listen(topic, who="all") as listener, wl.running():
        ready = await listener.next()
        talker.say("one", "two")
        first = await hear(listener, topic, 2)
        talker.say("three")
        rest = await hear(listener, topic, 3)
        talker.end()

    assert ready.data["topics"] == [topic]
    heard = first + rest
    assert [(line["sequence"], line["message"]) for line in heard] == [
        (1, "one"),
        (2, "two"),
        (3, "three"),
    ]
    assert {line["job_id"] for line in heard} == {str(receipt.job_id)}
    assert {(line["level"], line["attempt"]) for line in heard} == {("info", 1)}
    assert heard[0]["fields"] == {"password": "•••", "place": 7}


async def test_lines_from_before_the_stream_are_not_sent(wl, served, talker):
    receipt = await wl.enqueue("talk")
    topic = f"log:{receipt.job_id}"
    talker.say("old")
    async with wl.running(), served.listen(f"job:{receipt.job_id}", who="all") as waiting:
        await waiting.next()
        state = {"log_sequence": 0}
        while state["log_sequence"] < 1:
            read = await served.client.get(
                f"/jobs/{receipt.job_id}/logs", headers={"authorization": "all"}
            )
            state["log_sequence"] = len(read.json()["items"])
        async with served.listen(topic, who="all") as listener:
            await listener.next()
            talker.say("new")
            [line] = await hear(listener, topic, 2)
        talker.end()

    assert (line["sequence"], line["message"]) == (2, "new")


async def test_more_new_lines_than_a_poll_reads_cause_a_reset_of_that_tenant(wl, talker):
    receipt = await wl.enqueue("talk")
    topic, engine, history = f"log:{receipt.job_id}", await wl.ready(), SnapshotHistory()

    async def poll() -> list[StreamChange]:
        [(_, (seen, whole, audience))] = (
            await read_logs(engine, {topic: history.last(topic)})
        ).items()
        return history.changes(topic, seen, whole=whole, audience=audience)

    before = await poll()
    talker.say(*(f"line {number}" for number in range(MOST_LINES + 1)))
    talker.end()
    async with wl.running():
        await (await wl.jobs.get(receipt.job_id)).wait("60s")
        [reset], after = await poll(), await poll()

    assert (before, after) == ([], [])
    assert (reset.text, reset.place.audience) == (None, Audience("default"))


async def test_another_tenants_log_is_not_sent(wl, served, talker):
    await wl.tenants.create("acme")
    await wl.tenants.create("other")
    receipt = await wl.enqueue("talk", tenant="acme")
    topic = f"log:{receipt.job_id}"

    async with (
        served.listen(f"{topic},jobs", who="other") as foreign,
        served.listen(topic, who="acme") as own,
        wl.running(),
    ):
        await foreign.next()
        await own.next()
        talker.say("secret of acme")
        [line] = await hear(own, topic, 1)
        talker.end()
        await wl.enqueue("talk", tenant="other")
        seen = await foreign.next()
        talker.end()

    assert line["message"] == "secret of acme"
    assert {change["topic"] for change in seen.data["changes"]} == {"jobs"}


@pytest.mark.parametrize("topic", ["log", "log:", "log:8c1f42d7", "logs:"])
async def test_a_topic_without_a_whole_id_is_refused(served, topic):
    async with served.listen(topic, who="all") as listener:
        assert listener.response.status_code == 422


async def test_without_the_right_to_logs_their_topic_is_refused(served):
    async with served.listen(f"log:{new_job_id()}", who="mute") as listener:
        assert listener.response.status_code == 403
