"""Signed audit chains: someone with full database rights but no key cannot hide tampering."""

import asyncio
from dataclasses import replace

import pytest
import pytest_asyncio

from tests.support.principals import ACME, GLOBEX, ROOT, an_engine
from tests.support.sqlite_fixtures import Heard
from windlass import Settings
from windlass.core.access.audit import GENESIS, Target
from windlass.core.access.audit_signatures import AuditKeys, SignatureState
from windlass.core.access.roles import Right
from windlass.engine.access.audit_verify import PinnedHead, signing_keys
from windlass.engine.engine import Engine
from windlass.errors import AuditKeyInvalid, AuditKeyMissing, SettingsInvalid, TenantNotFound
from windlass.settings import AuditSettings
from windlass.telemetry import Telemetry

KEY, NEXT_KEY = "k" * 32, "n" * 32
QUEUE = Target("queue", "mail")
VALID = SignatureState.VALID


@pytest.fixture
def logged():
    return Heard()


@pytest_asyncio.fixture(loop_scope="session")
async def engine(storage, logged):
    await an_engine(storage, logged)
    return with_key(storage, logged)


def with_key(storage, logged, key=KEY, accepted=()):
    settings = Settings(audit=AuditSettings(key=key, accepted_keys=accepted))
    return Engine(storage, settings, Telemetry(logged))


async def record(engine, tenant=ACME, number=0):
    return await engine.audit.record(
        ROOT, Right.QUEUES_PAUSE, QUEUE, tenant=tenant, after={"n": number}
    )


async def fill(engine, count=5):
    for tenant in (None, ACME, GLOBEX):
        for number in range(count):
            await record(engine, tenant, number)


async def row_of(storage, tenant):
    [row] = await storage.database.query(
        "select sequence, hash, signature from windlass_audit_heads where tenant_id = :t",
        {"t": tenant},
    )
    return dict(row)


async def broken(engine, pinned=()):
    """Tenant -> (entry, problem) of every chain that is broken, "*" for the list of chains."""
    report = await engine.audit.verify_all(pinned)
    found = {v.tenant: (v.broken.sequence, v.broken.problem) for v in report.chains if v.broken}
    if report.problem:
        found["*"] = report.problem
    assert report.whole is not bool(found)
    return found


async def test_untouched_chains_are_valid_and_signed(engine):
    await fill(engine)

    report = await engine.audit.verify_all()

    assert report.whole
    assert report.signed
    assert [(v.tenant, v.entries, v.head) for v in report.chains] == [
        (None, 5, VALID),
        (ACME, 5, VALID),
        (GLOBEX, 5, VALID),
    ]


IN_ACME = "tenant_id = 'acme'"
COLUMNS = (
    "at, actor, actor_kind, actor_name, action, target_kind, target_id, outcome, value_before, "
    "value_after, request_id"
)
HEAD_OF_4 = (
    f"update windlass_audit_heads set sequence = 4 where {IN_ACME};\n"
    "update windlass_audit_heads set hash = (select hash from windlass_audit where "
    f"{IN_ACME} and sequence = 4) where {IN_ACME};\n"
)
CUT = f"delete from windlass_audit where {IN_ACME} and sequence > 4;\n"
WITHOUT_SIGNATURE = f"update windlass_audit_heads set signature = null where {IN_ACME};\n"
GONE = (
    f"delete from windlass_audit where {IN_ACME};\n"
    f"delete from windlass_audit_heads where {IN_ACME};\n"
)
UNLISTED = f"delete from windlass_audit_chains where {IN_ACME};\n"
#: What is done by hand -> the chains that are found broken, at which entry, and in which words.
TAMPERING = {
    "an edit": (
        f"update windlass_audit set actor = 'eve' where {IN_ACME} and sequence = 2;\n",
        {ACME: (2, "was changed")},
    ),
    "a deleted entry": (
        f"delete from windlass_audit where {IN_ACME} and sequence = 2;\n",
        {ACME: (2, "is missing")},
    ),
    "two entries that changed places": (
        f"update windlass_audit set sequence = 99 where {IN_ACME} and sequence = 2;\n"
        f"update windlass_audit set sequence = 2 where {IN_ACME} and sequence = 3;\n"
        f"update windlass_audit set sequence = 3 where {IN_ACME} and sequence = 99;\n",
        {ACME: (2, "does not follow")},
    ),
    "entries of two chains that changed places": (
        "update windlass_audit set tenant_id = 'x' where tenant_id = 'acme' and sequence = 3;\n"
        "update windlass_audit set tenant_id = 'acme' where tenant_id = 'globex' and sequence = 3;\n"
        "update windlass_audit set tenant_id = 'globex' where tenant_id = 'x' and sequence = 3;\n",
        {ACME: (3, "does not follow"), GLOBEX: (3, "does not follow")},
    ),
    "a cut end": (CUT, {ACME: (5, "is missing")}),
    "a cut end and a head that fits": (CUT + HEAD_OF_4, {ACME: (4, "cut off")}),
    "a cut end and a head without a signature": (
        CUT + HEAD_OF_4 + WITHOUT_SIGNATURE,
        {ACME: (4, "is not signed")},
    ),
    "an added entry": (
        f"insert into windlass_audit (tenant_id, sequence, {COLUMNS}, previous_hash, hash) "
        f"select tenant_id, 6, {COLUMNS}, previous_hash, hash from windlass_audit "
        f"where {IN_ACME} and sequence = 5;\n",
        {ACME: (6, "by hand")},
    ),
    "a whole chain that is gone": (GONE, {ACME: (1, "the whole chain is gone")}),
    "a whole chain that is gone and not listed": (GONE + UNLISTED, {"*": "is missing from"}),
    "a chain that is not listed": (
        UNLISTED,
        {ACME: (5, "not in the list"), "*": "is missing from the list"},
    ),
    "another number of chains": (
        GONE + UNLISTED + "update windlass_audit_registry set chains = 2;\n",
        {"*": "not the one that was signed"},
    ),
    "no number of chains": (
        GONE + UNLISTED + "delete from windlass_audit_registry;\n",
        {"*": "the number of chains is gone"},
    ),
    "another chain in its place in the list": (
        GONE + "update windlass_audit_chains set tenant_id = 'x' where tenant_id = 'acme';\n",
        {"x": (1, "the whole chain is gone"), "*": "of the list was changed"},
    ),
}


def matches(found, expected):
    if isinstance(expected, str):
        return isinstance(found, str) and expected in found
    return found[0] == expected[0] and expected[1] in found[1]


@pytest.mark.parametrize("how", TAMPERING)
async def test_tampering_without_the_key_names_the_chain(engine, storage, how):
    await fill(engine)
    statements, expected = TAMPERING[how]

    await storage.database.script(statements)

    found = await broken(engine)
    assert found.keys() == expected.keys()
    assert all(matches(found[chain], expected[chain]) for chain in expected), found


@pytest.mark.parametrize("how", TAMPERING)
async def test_later_entries_do_not_hide_tampering(engine, storage, how):
    await fill(engine)
    statements, _ = TAMPERING[how]
    await storage.database.script(statements)

    for _ in range(2):
        try:
            await fill(engine, 1)
        except Exception:
            assert how == "an added entry"

    assert await broken(engine)


async def test_a_forged_entry_with_valid_hashes_is_detected_at_the_head(engine, storage, logged):
    await fill(engine)
    forger = with_key(storage, logged, key="f" * 32, accepted=(KEY,))
    before = await row_of(storage, "acme")

    await record(forger, ACME, 99)
    await storage.database.script(
        f"update windlass_audit_heads set signature = '{before['signature']}' where {IN_ACME};\n"
    )

    assert matches((await broken(engine))[ACME], (6, "cut off, added or replaced"))


async def test_a_replayed_signed_head_is_detected_by_a_pinned_head(engine, storage):
    await fill(engine)
    older = await row_of(storage, "acme")
    await record(engine, ACME)
    pins = [
        PinnedHead(head.tenant, head.end.sequence, head.end.hash, head.signature)
        for head in await engine.audit.heads()
    ]
    assert await broken(engine, pins) == {}

    await storage.database.script(
        f"delete from windlass_audit where {IN_ACME} and sequence > 5;\n"
        f"update windlass_audit_heads set sequence = 5, hash = '{older['hash']}', "
        f"signature = '{older['signature']}' where {IN_ACME};\n"
    )

    assert await broken(engine) == {}
    assert matches((await broken(engine, pins))[ACME], (6, "rolled back"))


async def test_a_rewritten_chain_and_a_forged_pin_are_distinguished(engine):
    await fill(engine)
    [head] = await engine.audit.heads("acme")
    pin = PinnedHead(ACME, 4, head.end.hash)

    assert matches((await broken(engine, [pin]))[ACME], (4, "rewritten"))
    signed = replace(pin, signature=head.signature)
    assert matches((await broken(engine, [signed]))[ACME], (4, "the pinned head itself"))


async def test_deletion_of_everything_is_detected_by_a_pinned_head(engine, storage):
    await fill(engine)
    [head] = await engine.audit.heads("acme")
    pin = PinnedHead(ACME, head.end.sequence, head.end.hash, head.signature)

    for table in ("audit", "audit_heads", "audit_chains", "audit_registry"):
        await storage.database.script(f"delete from windlass_{table};\n")

    assert matches((await broken(engine, [pin]))[ACME], (5, "rolled back"))


async def test_a_tenant_verifies_and_pins_its_own_chain_only(engine):
    await fill(engine)
    [head] = await engine.audit.heads("globex")
    pin = PinnedHead(GLOBEX, head.end.sequence, head.end.hash)

    own = await engine.audit.verify_own("acme")

    assert [v.tenant for v in own.chains] == [ACME]
    with pytest.raises(TenantNotFound):
        await engine.audit.verify_own("acme", [pin])


async def test_a_process_without_the_key_cannot_append_to_a_signed_chain(engine, storage, logged):
    await fill(engine)
    keyless = Engine(storage, Settings(), Telemetry(logged))

    with pytest.raises(AuditKeyMissing, match="acme"):
        await record(keyless)
    with pytest.raises(AuditKeyMissing):
        await record(with_key(storage, logged, key=NEXT_KEY))

    assert await broken(engine) == {}
    unchecked = await keyless.audit.verify_all()
    assert unchecked.whole
    assert not unchecked.signed
    assert {v.head for v in unchecked.chains} == {SignatureState.UNCHECKED}


async def test_without_a_key_chains_are_verified_by_hash_only(storage, logged):
    keyless = await an_engine(storage, logged)
    await fill(keyless)

    report = await keyless.audit.verify_all()

    assert report.whole
    assert not report.signed
    assert {v.head for v in report.chains} == {SignatureState.UNSIGNED}
    assert await storage.access.audit_registry() is None


async def test_unsigned_chains_are_signed_on_request(engine, storage, logged):
    keyless = Engine(storage, Settings(), Telemetry(logged))
    await record(keyless, ACME)
    await record(keyless, None)
    await record(engine, GLOBEX)
    await record(engine, ACME)
    assert matches((await broken(engine))[ACME], (2, "is not signed"))

    signing = await engine.audit.sign(ROOT)
    await record(engine, ACME)

    assert (sorted(signing.signed), signing.refused) == (["", "acme", "globex"], {})
    assert await broken(engine) == {}
    [entry, *_] = (await engine.audit.list(ROOT)).entries
    assert (entry.action, entry.after) == ("audit.sign", {"chains": 3, "accepted": []})


@pytest.mark.parametrize("how", TAMPERING)
async def test_signing_refuses_a_tampered_chain_by_default(engine, storage, how):
    await fill(engine)
    await storage.database.script(TAMPERING[how][0])
    found = await broken(engine)

    signing = await engine.audit.sign(ROOT)

    assert signing.refused.keys() >= {name or "" for name in found if name != "x"}
    assert (await broken(engine)).keys() >= found.keys()


async def test_a_tampered_chain_is_signed_when_accepted(engine, storage):
    await fill(engine)
    await storage.database.script(CUT + HEAD_OF_4)
    await record(engine, ACME)

    signing = await engine.audit.sign(ROOT, accept=True)
    await fill(engine, 1)

    assert signing.accepted == ["acme"]
    assert await broken(engine) == {}


async def test_a_missing_chain_is_dropped_when_accepted(engine, storage):
    await fill(engine)
    await storage.database.script(GONE)

    await engine.audit.sign(ROOT, accept=True)
    await fill(engine, 1)

    assert await broken(engine) == {}


async def test_key_rotation_accepts_the_old_key(engine, storage, logged):
    await fill(engine)
    changed = with_key(storage, logged, key=NEXT_KEY, accepted=(KEY,))
    await fill(changed, 1)
    assert await broken(changed) == {}

    await changed.audit.sign(ROOT)

    assert await broken(with_key(storage, logged, key=NEXT_KEY)) == {}
    assert "signed with a key that is not known here" in str(await broken(engine))


async def test_chains_started_concurrently_are_all_listed(engine, storage, logged):
    await asyncio.gather(
        *[record(engine, f"tenant-{number % 7}", number) for number in range(28)],
        *[record(engine, None, number) for number in range(7)],
    )

    report = await engine.audit.verify_all()

    assert report.whole, report
    assert len(report.chains) == 8
    assert (await storage.access.audit_registry()).chains == 8


async def test_a_rolled_back_first_entry_leaves_no_chain(engine, storage):
    async def fails():
        async with storage.database.transaction() as session:
            await engine.audit.record(ROOT, Right.QUEUES_PAUSE, QUEUE, tenant=ACME, session=session)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fails()
    await record(engine, GLOBEX)

    assert await storage.access.audit_chains() == [GLOBEX]
    assert await broken(engine) == {}


def test_the_key_file_is_read_and_its_errors_are_reported(tmp_path):
    file = tmp_path / "key"
    file.write_text(f"{KEY}\nanything\n")

    keys = signing_keys(AuditSettings(key_file=str(file), accepted_keys=(NEXT_KEY,)))

    assert keys == AuditKeys(KEY.encode(), (NEXT_KEY.encode(),))
    assert KEY not in repr(keys)
    assert signing_keys(AuditSettings()) is None
    file.write_text("short\n")
    with pytest.raises(AuditKeyInvalid, match="fewer than 32"):
        signing_keys(AuditSettings(key_file=str(file)))
    with pytest.raises(AuditKeyInvalid, match="No such file"):
        signing_keys(AuditSettings(key_file=str(tmp_path / "none")))
    with pytest.raises(SettingsInvalid, match="only one of"):
        Settings.load({"audit.key": KEY, "audit.key_file": str(file)}, environ={}, cwd=tmp_path)


def test_a_signature_covers_one_statement_only():
    keys = AuditKeys(KEY.encode())
    signature = keys.sign(("head", "acme", 1, GENESIS))

    assert keys.check(signature, ("head", "acme", 1, GENESIS)) is VALID
    for other in (("head", "acme", 2, GENESIS), ("head", "globex", 1, GENESIS), ("chain", 1, "a")):
        assert keys.check(signature, other) is SignatureState.INVALID
    assert keys.check("", ("registry", 1)) is SignatureState.INVALID
