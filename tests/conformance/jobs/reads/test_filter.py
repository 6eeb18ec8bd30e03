"""page with filters: every field and operator, on every database."""

import json

import pytest

from tests.support.job_builders import (
    ACME,
    ALDER,
    GLOBEX,
    HOUR,
    MINUTE,
    SECOND,
    a_definition,
    a_job,
    a_tenant,
    claim_all,
    end,
    enqueue,
    finish,
    lease_of,
    lost,
    new_jobs,
    release,
    started,
)
from windlass.core.jobs.filter import parse
from windlass.core.jobs.filter_fields import FIELDS
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.query import FilterTerm, JobQuery
from windlass.core.jobs.states import JobState
from windlass.ids import DefinitionKey, JobId, QueueName
from windlass.storage.jobs.list_sql import MOST_PARTS


async def matching(storage, clock, text: str, scope=ALL_TENANTS, **how) -> list[JobId]:
    """All jobs that a filter means, of as many pages as there are."""
    query, ids, after = parse(text).at(clock.now), [], None
    while True:
        page = await storage.jobs.page(scope, query, after=after, **how)
        ids += [job.id for job in page.jobs]
        if page.next is None:
            assert ids == sorted(set(ids), reverse=True)
            return ids
        after = page.next


async def a_zoo(storage, clock) -> dict[str, JobId]:
    """Jobs that differ in everything a filter can ask for, in all three tables."""
    await a_tenant(storage, "acme")
    await a_tenant(storage, "acme-2")
    zoo: dict[str, JobId] = {}
    dead = await started(storage, tenant=ACME, queue=QueueName("mail"), source="event", priority=50)
    zoo["dead"] = dead.job_id
    await clock.advance(40 * SECOND)
    await end(
        storage,
        dead,
        JobState.DEAD_LETTER,
        error='Connection timed out: 100% of 5_000 ms, it\'s "late" \\ gone',
        error_type="TimeoutError",
        fingerprint="f1",
    )
    zoo["retrying"] = await enqueue(
        storage, definition=DefinitionKey("other"), queue=QueueName("mail.bulk"), priority=200
    )
    retrying = await lease_of(storage, zoo["retrying"], worker="w-3")
    await end(
        storage, retrying, JobState.QUEUED, delay=HOUR, error="No Route", error_type="OSError"
    )
    await clock.advance(HOUR)
    zoo["scheduled"] = await enqueue(
        storage, delay=HOUR, correlation_id="order 17", queue=QueueName("x")
    )
    zoo["held"] = await enqueue(
        storage, held=True, queue=QueueName("mail"), correlation_id="order 18"
    )
    running = await started(storage, queue=QueueName("Mail"), source="schedule")
    zoo["running"] = running.job_id
    quick = await started(storage, queue=QueueName("%"), tenant="acme-2")
    zoo["completed"] = quick.job_id
    await end(storage, quick, JobState.COMPLETED)
    await clock.advance(2 * MINUTE)
    zoo["canceled"] = await enqueue(storage, queue=QueueName("m_il"))
    await storage.jobs.cancel(ALL_TENANTS, [zoo["canceled"]], reason="Not wanted")
    return zoo


ALL = {"dead", "retrying", "scheduled", "held", "running", "completed", "canceled"}


OF_THE_ZOO = [
    ("", ALL),
    ("state:dead_letter,retrying", {"dead", "retrying"}),
    ("state:queued", {"retrying", "scheduled"}),
    ("state:queued -state:retrying", {"scheduled"}),
    ("-state:queued,completed", ALL - {"retrying", "scheduled", "completed"}),
    ("-state:scheduled,dead_letter", ALL - {"scheduled", "dead"}),
    ("state:waiting", {"held"}),
    ("state:queued state:running", set()),
    ("definition:other", {"retrying"}),
    ("definition:oth*,nobody", {"retrying"}),
    ("-definition:oth*", ALL - {"retrying"}),
    ("-definition:other state:dead_letter,queued", {"dead", "scheduled"}),
    ("queue:mail", {"dead", "held"}),
    ("queue:mail*", {"dead", "held", "retrying"}),
    ("queue:%", {"completed"}),
    ("queue:m_*", {"canceled"}),
    ("-queue:mail,x", ALL - {"dead", "held", "scheduled"}),
    ("tenant:acme", {"dead"}),
    ("tenant:acme*", {"dead", "completed"}),
    ("tenant:acme,acme-2 state:completed", {"completed"}),
    ("-tenant:default", {"dead", "completed"}),
    ("source:event,schedule", {"dead", "running"}),
    ("-source:manual", {"dead", "running"}),
    ("worker:w-3", {"retrying"}),
    ("worker:*", {"dead", "retrying", "running", "completed"}),
    ("-worker:alder", {"retrying", "scheduled", "held", "canceled"}),
    ('correlation:"order 17"', {"scheduled"}),
    ("correlation:order*", {"scheduled", "held"}),
    ("-correlation:*", ALL - {"scheduled", "held"}),
    ("fingerprint:f1", {"dead"}),
    ("-fingerprint:* state:dead_letter", set()),
    ("priority:high", {"dead"}),
    ("priority:<normal", {"dead"}),
    ("priority:>=low", {"retrying"}),
    ("priority:>50 priority:<=100 state:completed", {"completed"}),
    ("attempts:0", {"scheduled", "held", "canceled"}),
    ("attempts:>0", {"dead", "retrying", "running", "completed"}),
    ("-attempts:>=1", {"scheduled", "held", "canceled"}),
    ("created:>-1h", {"scheduled", "held", "running", "completed", "canceled"}),
    ("created:<=-1h", {"dead", "retrying"}),
    ("created:>=-2m created:<-1m", {"scheduled", "held", "running", "completed"}),
    ("-created:>-1h", {"dead", "retrying"}),
    ("due:>-0s", {"scheduled"}),
    ("due:<+2h state:queued", {"scheduled", "retrying"}),
    ("started:<-1h", {"dead", "retrying"}),
    ("-started:<-1h", ALL - {"dead", "retrying"}),
    ("finished:>-1m", {"canceled"}),
    ("-finished:<+1h", {"retrying", "scheduled", "held", "running"}),
    ("duration:>30s", {"dead", "running"}),
    ("duration:>=40s duration:<41s", {"dead"}),
    ("duration:<1s", {"completed"}),
    ("-duration:>30s state:running,completed", {"completed"}),
    ('error:"TIMED OUT"', {"dead"}),
    ("timeouterror", {"dead"}),
    ('error:"100% of 5_000 ms, it\'s \\"late\\" \\\\"', {"dead"}),
    ("error:1_0", set()),
    ("route,timed", {"dead", "retrying"}),
    ("error:*", {"dead", "retrying"}),
    ("-error:*", ALL - {"dead", "retrying"}),
    ("-error:timed", ALL - {"dead"}),
    ("reason:WANTED", {"canceled"}),
    ("-reason:*", ALL - {"canceled"}),
]


async def test_a_filter_selects_matching_jobs(storage, clock):
    zoo = await a_zoo(storage, clock)
    name_of = {id: name for name, id in zoo.items()}

    chosen = [
        (text, sorted(name_of[id] for id in await matching(storage, clock, text)))
        for text, _ in OF_THE_ZOO
    ]

    assert chosen == [(text, sorted(names)) for text, names in OF_THE_ZOO]


OF_PAYLOADS = [
    ("payload.user_id:7", {"number", "text"}),
    ("payload.user_id:7.0", {"number", "text"}),
    ("payload.user_id:7,8", {"number", "text", "float"}),
    ("payload.user_id:>7", {"float", "large"}),
    ("payload.user_id:>=7", {"number", "float", "large"}),
    ("payload.user_id:<1e1", {"number", "float"}),
    ("payload.user_id:9007199254740993", {"large"}),
    ("payload.name:Ad*", {"nested"}),
    ("payload.name:ad*", set()),
    ('payload.name:"Ada \\"L\\" é"', {"nested"}),
    ("payload.who.name:Grace", {"nested"}),
    ("payload.who:*", set()),
    ("payload.größe:1", {"nested"}),
    ("payload.vip:true", {"truth"}),
    ("payload.vip:false", {"false"}),
    ("payload.vip:*", {"truth", "false", "empty"}),
    ('payload.vip:""', {"empty"}),
    ("-payload.user_id:*", {"nested", "truth", "false", "empty", "null"}),
    ("payload.user_id:null", set()),
    ("payload.a-b:1", {"empty"}),
]


@pytest.mark.parametrize("ended", [False, True])
async def test_payload_fields_select_jobs(storage, clock, ended):
    payloads = {
        "number": {"user_id": 7},
        "text": {"user_id": "7"},
        "float": {"user_id": 8.0},
        "large": {"user_id": 9007199254740993},
        "nested": {"name": 'Ada "L" é', "who": {"name": "Grace"}, "größe": 1},
        "truth": {"vip": True},
        "false": {"vip": False},
        "empty": {"vip": "", "a-b": 1},
        "null": {"user_id": None, "vip": None},
    }
    zoo = {
        await enqueue(
            storage, payload=json.dumps(payload, ensure_ascii=False), delay=HOUR if n % 2 else None
        ): name
        for n, (name, payload) in enumerate(payloads.items())
    }
    if ended:
        await storage.leases.finish(ALDER, [finish(lease) for lease in await claim_all(storage)])

    chosen = [
        (text, sorted(zoo[id] for id in await matching(storage, clock, text)))
        for text, _ in OF_PAYLOADS
    ]

    assert chosen == [(text, sorted(names)) for text, names in OF_PAYLOADS]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("payload.n:>0", {"long", "small"}),
        ("payload.n:>1e308", {"long"}),
        ("payload.n:<0", {"negative"}),
        ("payload.n:<=5", {"negative", "small"}),
        ("payload.n:5", {"small"}),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
async def test_a_number_beyond_a_double_does_not_break_a_filter(storage, clock, text, names):
    """An older version stored such numbers."""
    digits = "1" + "0" * 400
    payloads = {"long": digits, "negative": f"-{digits}", "small": "5", "text": f'"{digits}0"'}
    jobs = {
        await enqueue(storage, payload=f'{{"n":{number}}}'): name
        for name, number in payloads.items()
    }

    chosen = await matching(storage, clock, text)

    assert {jobs[id] for id in chosen} == names


@pytest.mark.parametrize("text", ["ü", "日本", "\N{GRINNING FACE}"])
async def test_text_that_an_ascii_column_cannot_hold_matches_nothing(storage, clock, text):
    job = await enqueue(storage)

    assert await matching(storage, clock, f"fingerprint:{text}") == []
    assert await matching(storage, clock, f"fingerprint:{text}*") == []
    assert await matching(storage, clock, f"-fingerprint:{text},{text}*") == [job]
    assert await matching(storage, clock, f"-fingerprint:abc,{text}") == [job]


async def test_ids_select_their_jobs(storage, clock):
    created = [(await a_job(storage, state)).id for state in JobState]

    ids = await matching(storage, clock, f"id:{created[0]},{created[-1]},{created[0]}")

    assert ids == [created[-1], created[0]]
    assert len(await matching(storage, clock, f"-id:{created[0]}")) == len(created) - 1


async def test_a_term_without_values_matches_nothing_and_negated_everything(storage):
    await enqueue(storage)

    none = await storage.jobs.page(ALL_TENANTS, JobQuery((FilterTerm("definition", ()),)))
    all_ = await storage.jobs.page(
        ALL_TENANTS, JobQuery((FilterTerm("definition", (), negated=True),))
    )

    assert (len(none.jobs), len(all_.jobs)) == (0, 1)


#: A filter for each field, and its opposite: whatever is asked, a scope sees its own.
ASKED = [
    *(field.example for name, field in FIELDS.items() if name not in ("tag", "id")),
    "tenant:globex",
    "tenant:*",
    "-tenant:acme",
    "definition:plain",
    "definition:*",
    "queue:* state:completed",
    "correlation:*",
    "correlation:same",
    'error:"\' or 1=1 --"',
    "payload.n:1",
    "state:completed definition:plain tenant:globex",
]


@pytest.mark.parametrize("text", ASKED)
async def test_another_tenants_jobs_never_match(storage, clock, text):
    await a_tenant(storage, "acme")
    await a_tenant(storage, "globex")
    for tenant in (ACME, GLOBEX):
        for state in JobState:
            await a_job(storage, state, tenant=tenant, correlation_id="same")
    turned = text.removeprefix("-") if text.startswith("-") else f"-{text}"

    for filters in (text, turned, f"{text} {turned}"):
        for look in (2, 10_000):
            ids = await matching(storage, clock, filters, Scope(ACME), look=look, limit=3)
            mine = await matching(storage, clock, "", Scope(ACME))

            assert set(ids) <= set(mine)


async def test_an_unindexed_page_may_end_early_and_paging_continues(storage, clock):
    await storage.jobs.enqueue(new_jobs(30))
    rare = await enqueue(storage, queue=QueueName("rare"), source="event")
    await storage.jobs.enqueue(new_jobs(30))
    await storage.leases.finish(ALDER, [finish(lease) for lease in await claim_all(storage)])

    first = await storage.jobs.page(ALL_TENANTS, parse("source:event"), look=10)
    ids = await matching(storage, clock, "source:event", look=10)

    assert first.jobs == []
    assert first.next is not None
    assert ids == [rare]


async def test_any_scan_limit_finds_the_same_jobs(storage, clock):
    await a_zoo(storage, clock)
    await storage.jobs.enqueue(new_jobs(5))

    for text in ("error:*", "state:queued,dead_letter worker:*", "-queue:mail", "created:>-1h"):
        whole = await matching(storage, clock, text)
        for look in (1, 2, 3):
            assert await matching(storage, clock, text, look=look, limit=2) == whole


async def test_jobs_are_found_fast_by_correlation_id(storage, clock):
    ended = await a_job(storage, JobState.COMPLETED, correlation_id="order 17")
    other = await a_job(storage, JobState.COMPLETED, correlation_id="order 18")
    await storage.jobs.enqueue(new_jobs(50))
    await storage.leases.finish(ALDER, [finish(lease) for lease in await claim_all(storage)])

    for query, ids in (
        ('correlation:"order 17"', [ended.id]),
        ('correlation:"order 18","order 17","order 18"', [other.id, ended.id]),
    ):
        page = await storage.jobs.page(ALL_TENANTS, parse(query), look=5)

        assert [job.id for job in page.jobs] == ids


async def test_more_correlation_ids_than_the_index_walk_takes_are_found(storage, clock):
    ids = [await enqueue(storage, correlation_id=f"c{n}") for n in range(20)]
    ids_text = ",".join(f"c{n}" for n in range(20))

    assert await matching(storage, clock, f"correlation:{ids_text}") == ids[::-1]


async def test_a_rare_state_is_found_fast_among_many_ended_jobs(storage, clock):
    """By the definitions that have such jobs: nothing is looked through for it."""
    dead = await a_job(storage, JobState.DEAD_LETTER)
    await storage.jobs.enqueue(new_jobs(50))
    await storage.leases.finish(ALDER, [finish(lease) for lease in await claim_all(storage)])

    page = await storage.jobs.page(ALL_TENANTS, parse("state:dead_letter"), look=5)

    assert [job.id for job in page.jobs] == [dead.id]
    assert page.next is None


async def test_more_definitions_than_the_index_walk_takes_are_found(storage, clock):
    keys = [f"kind {n:03}" for n in range(MOST_PARTS + 2)]
    for key in keys:
        await storage.jobs.enqueue(new_jobs(1, definition=await a_definition(storage, key)))
    await storage.leases.finish(
        ALDER, [finish(lease) for lease in await claim_all(storage, known=keys)]
    )

    assert len(await matching(storage, clock, 'definition:"kind "*', look=7)) == len(keys)
    assert len(await matching(storage, clock, "state:completed", look=7)) == len(keys)


async def test_a_time_span_finds_jobs_whose_ids_come_from_another_clock(storage, clock):
    created = []
    for _ in range(5):
        created.append((await a_job(storage, JobState.COMPLETED)).id)
        await clock.advance(26 * HOUR)

    ids = await matching(storage, clock, "created:>-80h created:<-27h", look=2)

    assert ids == [created[3], created[2]]


async def test_released_and_lost_attempts_show_in_their_views(storage, clock):
    lost_one, released = await started(storage), await started(storage)
    await storage.leases.finish(ALDER, [lost(lost_one, delay=HOUR), release(released, delay=HOUR)])

    assert await matching(storage, clock, "state:retrying") == [lost_one.job_id]
    assert await matching(storage, clock, "state:scheduled") == [released.job_id]
