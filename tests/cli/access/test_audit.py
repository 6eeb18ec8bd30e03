"""`windlass audit verify|head|sign`: every chain is checked, and a broken one is named."""

import sqlite3

import pytest

from tests.support.processes.shell import Shell

KEY = {"WINDLASS_AUDIT_KEY": "k" * 32}


def database(shell: Shell) -> sqlite3.Connection:
    return sqlite3.connect(shell.folder / "windlass.db")


@pytest.fixture
def filled(ready: Shell) -> Shell:
    """Two entries in the installation's chain and two in a tenant's; their ends are not signed."""
    ready.here("tenants", "create", "acme")
    for name in ("one", "two"):
        ready.here("tokens", "create", name, "-t", "acme", "--role", "user")
    return ready


def test_every_chain_is_checked_and_the_broken_one_named(filled: Shell):
    whole = filled.ok("audit", "verify")
    with database(filled) as db:
        db.execute("update windlass_audit set actor = 'eve' where tenant_id = 'acme'")
    broken = filled.run("audit", "verify")
    other = filled.run("audit", "verify", "-t", "acme", "--json")

    assert [line.split(":")[0] for line in whole.lines] == ["(installation)", "acme"]
    assert "end not signed" in whole.out
    assert "audit.key" in whole.err
    assert broken.code == 1
    assert "acme: broken at entry 1: entry 1 was changed" in broken.lines
    assert [chain["tenant_id"] for chain in other.json["chains"]] == ["acme"]
    assert other.code == 1


def test_chains_are_signed_once_a_key_is_set(filled: Shell):
    without = filled.run("audit", "sign")
    before = filled.run("audit", "verify", **KEY)
    tried = filled.ok("audit", "sign", "--dry-run", **KEY)
    signed = filled.ok("audit", "sign", **KEY)
    after = filled.ok("audit", "verify", **KEY)
    keyless = filled.run("tokens", "create", "three", "-t", "acme", "--role", "user")

    assert (without.code, before.code) == (2, 1)
    assert "the end of the chain is not signed" in before.out
    assert "Would be signed: 2 chains." in tried.err
    assert "Signed: 2 chains." in signed.err
    assert "acme: whole, entries: 2, end signed" in after.lines
    assert keyless.code == 2
    assert "WL1521" in keyless.err


def test_a_chain_put_back_to_an_earlier_state_is_found_by_heads_kept_elsewhere(filled: Shell):
    filled.ok("audit", "sign", **KEY)
    with database(filled) as db:
        earlier = db.execute(
            "select sequence, hash, signature from windlass_audit_heads where tenant_id = 'acme'"
        ).fetchone()
    filled.ok("tokens", "create", "three", "-t", "acme", "--role", "user", **KEY)
    heads = filled.folder / "heads.json"
    heads.write_text(filled.ok("audit", "head", "--json").out)

    with database(filled) as db:
        db.execute("delete from windlass_audit where tenant_id = 'acme' and sequence = 3")
        db.execute(
            "update windlass_audit_heads set sequence = ?, hash = ?, signature = ? "
            "where tenant_id = 'acme'",
            earlier,
        )
    alone = filled.run("audit", "verify", **KEY)
    pinned = filled.run("audit", "verify", "--heads", str(heads), **KEY)
    lines = filled.folder / "heads.jsonl"
    lines.write_text(filled.ok("audit", "head", "-o", "jsonl").out)

    assert alone.code == 0
    assert pinned.code == 1
    assert "acme: broken at entry 3: the chain was rolled back" in pinned.out
    assert filled.run("audit", "verify", "--heads", str(lines), **KEY).code == 0


def test_a_file_without_heads_is_refused(filled: Shell):
    file = filled.folder / "heads.json"
    file.write_text("[1, 2]")

    assert filled.run("audit", "verify", "--heads", str(file)).code == 2
