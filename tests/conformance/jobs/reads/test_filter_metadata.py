"""Filters on metadata, and on the trigger that made a job."""

from tests.conformance.jobs.reads.test_filter import matching
from tests.conformance.triggers.test_triggers import stored_trigger
from tests.support.job_builders import HOUR, enqueue


async def test_metadata_fields_and_triggers_select_jobs(storage, clock):
    trigger = (await stored_trigger(storage)).id
    zoo = {
        await enqueue(storage, metadata=metadata, delay=delay, trigger_id=id): name
        for name, metadata, delay, id in (
            ("seven", '{"order": 7, "who": {"name": "Ada"}}', None, trigger),
            ("text", '{"order": "7"}', HOUR, None),
            ("nine", '{"order": 9, "vip": true}', None, None),
            ("none", None, HOUR, trigger),
        )
    }
    of_zoo = [
        ("metadata.order:7", {"seven", "text"}),
        ("metadata.order:>7", {"nine"}),
        ("metadata.who.name:A*", {"seven"}),
        ("metadata.vip:true", {"nine"}),
        ("-metadata.order:*", {"none"}),
        (f"trigger:{trigger}", {"seven", "none"}),
        (f"-trigger:{trigger}", {"text", "nine"}),
        (f"trigger:{trigger} metadata.order:7", {"seven"}),
        ("payload.order:7", set()),
    ]

    chosen = [
        (text, sorted(zoo[id] for id in await matching(storage, clock, text))) for text, _ in of_zoo
    ]

    assert chosen == [(text, sorted(names)) for text, names in of_zoo]
