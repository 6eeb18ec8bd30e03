"""The record of changes: redacted, paged, bounded by who reads, and any tampering is found."""

import asyncio

import pytest

from tests.support.principals import ACME, GLOBEX, ROOT, admin, an_engine, person
from windlass.core.access.audit import Target
from windlass.core.access.roles import Right, Role
from windlass.core.payloads.redact import MASK
from windlass.engine.access import secrets
from windlass.errors import Forbidden, OptionInvalid, TenantNotFound
from windlass.ids import new_token_id

QUEUE = Target("queue", "mail")


@pytest.fixture
async def engine(storage, heard):
    return await an_engine(storage, heard)


async def record(engine, tenant=ACME, **about):
    return await engine.audit.record(ROOT, Right.QUEUES_PAUSE, QUEUE, tenant=tenant, **about)


async def test_secrets_are_hidden_before_anything_is_stored(engine):
    token, session = secrets.new_token_text(new_token_id()), secrets.new_secret(secrets.SESSION)

    entry = await record(
        engine,
        before={"password": "hunter22hunter22", "note": f"uses {token}"},
        after={"url": "postgresql://u:p4ssw0rd@db/x", "list": [session, {"api_key": "k" * 9}]},
    )

    assert entry.before == {"password": MASK, "note": f"uses {MASK}"}
    assert entry.after["list"] == [MASK, {"api_key": MASK}]
    for secret in ("hunter22", "p4ssw0rd", token, session, "k" * 9):
        assert secret not in str(entry)


async def test_a_value_too_large_leaves_its_size_and_hash(engine):
    entry = await record(engine, after={"text": "x" * 100_000})

    assert set(entry.after) == {"too_large", "sha256"}


async def test_values_json_does_not_know_are_written_as_text(engine):
    id = new_token_id()

    entry = await record(engine, after={"id": id, 1: "one", "half": "\ud800"})

    assert entry.after["id"] == str(id)
    assert (await engine.audit.verify(ACME)).whole


async def test_an_entry_and_its_change_are_stored_together_or_not_at_all(engine, storage):
    async def change(fails: bool) -> None:
        async with storage.database.transaction() as session:
            await record(engine, session=session)
            if fails:
                raise RuntimeError

    with pytest.raises(RuntimeError):
        await change(fails=True)
    await change(fails=False)

    assert [e.sequence for e in await storage.access.entries(ACME)] == [1]


async def test_a_chain_is_read_with_the_right_to_it_page_by_page(engine):
    for tenant in (ACME, ACME, ACME, GLOBEX, None):
        await record(engine, tenant=tenant)

    first = await engine.audit.list(admin(), limit=2)
    rest = await engine.audit.list(admin(), before=first.next, limit=2)

    assert [e.sequence for e in (*first.entries, *rest.entries)] == [3, 2, 1]
    assert rest.next is None
    assert len((await engine.audit.list(ROOT)).entries) == 1
    assert len((await engine.audit.list(ROOT, tenant=GLOBEX)).entries) == 1
    with pytest.raises(TenantNotFound):
        await engine.audit.list(admin(), tenant=GLOBEX)
    with pytest.raises(Forbidden):
        await engine.audit.list(person(Role.USER))
    with pytest.raises(OptionInvalid):
        await engine.audit.list(ROOT, limit=0)


async def test_whole_chains_verify_while_they_grow(engine, storage, monkeypatch):
    monkeypatch.setattr("windlass.engine.access.audit_verify._PAGE", 3)
    assert (await engine.audit.verify(ACME)).entries == 0
    writes = [record(engine, tenant=tenant) for tenant in (ACME, None) for _ in range(10)]

    *_, during = await asyncio.gather(*writes, engine.audit.verify(ACME))

    assert during.whole
    after = await engine.audit.verify_all()
    assert [(v.tenant, v.entries, v.whole) for v in after.chains] == [
        (None, 10, True),
        (ACME, 10, True),
    ]


TAMPERING = {
    "an edit": ("update windlass_audit set actor = 'eve' where sequence = 4", 4, "was changed"),
    "a gap": ("delete from windlass_audit where sequence = 4", 4, "is missing"),
    "a cut end": ("delete from windlass_audit where sequence >= 6", 6, "is missing"),
    "all gone": ("delete from windlass_audit", 1, "is missing"),
    "a moved end": ("update windlass_audit_heads set sequence = 5", 6, "by hand"),
    "another end": (f"update windlass_audit_heads set hash = '{'a' * 64}'", 7, "does not end"),
    "no end": ("delete from windlass_audit_heads", 1, "by hand"),
    "an entry too many": (
        "insert into windlass_audit select tenant_id, 8, at, actor, actor_kind, actor_name, action,"
        " target_kind, target_id, outcome, value_before, value_after, request_id, previous_hash,"
        " hash from windlass_audit where sequence = 7",
        8,
        "by hand",
    ),
    "changed places": (
        "update windlass_audit set sequence = 100 where sequence = 2;\n"
        "update windlass_audit set sequence = 2 where sequence = 3;\n"
        "update windlass_audit set sequence = 3 where sequence = 100",
        2,
        "does not follow",
    ),
}


@pytest.mark.parametrize("how", TAMPERING)
async def test_tampering_is_found_with_its_entry(engine, storage, monkeypatch, how):
    monkeypatch.setattr("windlass.engine.access.audit_verify._PAGE", 3)
    for number in range(7):
        await record(engine, after={"n": number})
    statement, place, problem = TAMPERING[how]

    await storage.database.script(f"{statement};\n")

    verified = await engine.audit.verify(ACME)
    assert not verified.whole
    assert verified.broken.sequence == place
    assert problem in verified.broken.problem
    assert verified.entries == place - 1
