"""`windlass db …` and databases with problems."""

from collections.abc import Callable

import pytest

from tests.databases.connect import execute
from tests.support.processes.shell import Shell


@pytest.mark.database("postgresql")
def test_a_server_is_migrated_by_hand_and_taken_back(
    shell_on: Callable[[str], Shell], new_database
):
    shell = shell_on(new_database("postgresql").url)

    before = shell.run("jobs", "list")
    sql = shell.ok("db", "sql").out
    planned = shell.ok("db", "migrate", "--dry-run").lines
    done = shell.ok("db", "migrate").lines
    after = shell.ok("db", "status", "--json").json

    assert before.code == 2
    assert before.err.startswith("error[WL1203]: the database schema is at version 0")
    assert "create table" in sql.lower()
    assert planned == done != []
    assert after["version"] == after["needed"]
    assert (after["applied"], after["pending"]) == (done, [])
    assert shell.ok("db", "migrate").err == "Nothing to do: the database is up to date.\n"
    assert shell.ok("db", "sql").out == ""
    assert shell.ok("jobs", "list").err == "No jobs yet.\n"

    assert shell.run("db", "downgrade", "--to", "0").err.startswith("error[WL2002]")
    assert shell.ok("db", "downgrade", "--to", "0", "--dry-run").lines == done[::-1]
    refused = shell.at_terminal("db", "downgrade", "--to", "0", types="n\n")
    assert refused.code == 130
    assert "deletes" in refused.out
    assert shell.ok("db", "status", "--json").json["version"] == after["version"]
    assert shell.ok("db", "downgrade", "--to", "0", "--yes").lines == done[::-1]
    assert shell.ok("db", "status", "--json").json["version"] == 0


def test_a_person_sees_applied_and_pending_migrations(ready: Shell):
    done = ready.at_terminal("db", "status")

    assert "windlass.db" in done.out
    assert "Pending" in done.out


@pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
def test_wrong_counts_are_found(shell_on: Callable[[str], Shell], database):
    shell = shell_on(database.url)
    shell.ok("worker", "jobs.py", "--drain")
    shell.ok("enqueue", "hello", "name=Ada")

    right = shell.ok("db", "check")
    execute(database.url, "delete from windlass_deltas")
    execute(database.url, "delete from windlass_counts")
    wrong = shell.run("db", "check", "--json")

    assert right.err == "No damage was found.\nAll counts are right.\n"
    assert wrong.code == 1
    [found] = wrong.json
    assert found == found | {
        "rule": "count",
        "tenant_id": "default",
        "queue": "default",
        "definition": "hello",
        "state": "queued",
        "kept": 0,
        "counted": 1,
    }


def test_damage_is_shown_with_its_jobs_and_the_fix(ready: Shell):
    ready.ok("enqueue", "hello", "name=Ada")
    [(id,)] = execute(f"sqlite:///{ready.folder}/windlass.db", "select id from windlass_live")
    execute(
        f"sqlite:///{ready.folder}/windlass.db",
        "update windlass_live set lease_expires_at = due_at",
    )

    told = ready.at_terminal("db", "check")
    listed = ready.run("db", "check", "--json")

    assert (told.code, listed.code) == (1, 1)
    assert f"1 jobs with a lease that do not run (lease-left, windlass_live): {id}" in told.out
    assert "Set lease_expires_at to null." in told.out + told.err
    [found] = listed.json
    assert (found["rule"], found["found"], found["ids"]) == ("lease-left", 1, [id])


def test_a_new_epoch_hands_back_running_jobs_after_a_confirmation(ready: Shell):
    before = execute(
        f"sqlite:///{ready.folder}/windlass.db", "select epoch from windlass_installation"
    )

    assert ready.run("db", "new-epoch").code == 2, "nobody was asked"
    done = ready.ok("db", "new-epoch", "--yes", "--json").json

    assert done["handed_back"] == 0
    assert (
        [(done["epoch"],)]
        == execute(
            f"sqlite:///{ready.folder}/windlass.db", "select epoch from windlass_installation"
        )
        != before
    )


def test_downgrade_does_not_upgrade(ready: Shell):
    done = ready.run("db", "downgrade", "--to", "99")

    assert done.code == 2
    assert "`windlass db migrate` goes up" in done.err


@pytest.mark.parametrize(
    ("url", "code", "says"),
    [
        ("postgresql://ada:hunter2@127.0.0.1:1/x", 6, "error[WL1101]: cannot reach the database"),
        ("oracle://x", 2, 'error[WL1103]: "oracle" is no database'),
        ("sqlite:////nowhere/at/all.db", 6, "error[WL1101]: cannot reach the database"),
    ],
)
def test_an_invalid_database_address_is_shown_without_its_secrets(shell: Shell, url, code, says):
    done = shell.run("--db", url, "jobs", "list")

    assert done.code == code, done
    assert done.err.startswith(says)
    assert "hunter2" not in done.err


def test_an_edited_migration_is_noticed(ready: Shell):
    url = f"sqlite:///{ready.folder / 'windlass.db'}"
    execute(url, "update windlass_migrations set checksum = 'x' where number = 1")

    done = ready.run("jobs", "list")

    assert done.code == 2
    assert done.err.startswith("error[WL1205]")


def test_a_time_limit_holds_for_every_command(ready: Shell):
    assert ready.run("jobs", "list", "--timeout", "soon").code == 2
    assert ready.run("jobs", "list", "--timeout", "1us").code == 6


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_row_security_is_enabled_and_disabled(shell_on: Callable[[str], Shell], database):
    shell = shell_on(database.url)
    secured = (
        "select count(*) from pg_class where relname like 'windlass\\_%' "
        "and (relrowsecurity or 'security_invoker=on' = any(reloptions))"
    )

    planned = shell.ok("db", "secure", "--dry-run")
    before = execute(database.url, secured)
    done = [shell.ok("db", "secure") for _ in range(2)]
    between = execute(database.url, secured)
    undone = [shell.ok("db", "secure", "--off") for _ in range(2)]
    after = execute(database.url, secured)

    assert "create policy" in planned.out
    assert {each.err for each in done} == {"Row security is on.\n"}
    assert {each.err for each in undone} == {"Row security is off.\n"}
    assert before == after == [(0,)]
    assert between[0][0] > 15
    assert shell.run("db", "secure", "--off", "--role", "x").code == 2


def test_row_security_needs_postgresql(ready: Shell):
    refused = ready.run("db", "secure")

    assert refused.code == 2
    assert refused.err.startswith("error[WL1104]: row security is not available here.")


JOBS_WITH_SECRETS = """
from typing import Annotated
from pydantic import Field
from windlass import Windlass

wl = Windlass()


@wl.job
def login(user: str, secret: Annotated[str, Field(json_schema_extra={"writeOnly": True})]) -> None:
    pass
"""


def test_payloads_are_reencrypted_with_the_first_key(shell: Shell):
    old, new = (shell.here("config", "generate-key").out.strip() for _ in range(2))
    shell.write("with_secrets.py", JOBS_WITH_SECRETS)
    shell.ok("definitions", "sync", "with_secrets.py")
    shell.ok("enqueue", "login", "user=ada", "secret=hunter2-hunter2", WINDLASS_ENCRYPTION_KEYS=old)

    without = shell.run("db", "reencrypt")
    both = {"WINDLASS_ENCRYPTION_KEYS": f"{new},{old}"}
    counted = shell.ok("db", "reencrypt", "--dry-run", "--json", **both).json
    done = shell.ok("db", "reencrypt", "--json", **both).json
    again = shell.ok("db", "reencrypt", "--json", WINDLASS_ENCRYPTION_KEYS=new).json

    assert without.code == 2
    assert "windlass config generate-key" in without.err
    assert [each["changed"] for each in (counted, done, again)] == [1, 1, 0]
