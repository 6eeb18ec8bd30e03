"""`windlass doctor`: every check with its sentence and its fix."""

from collections.abc import Callable

import pytest

from tests.cli.run.test_serve import address
from tests.support.processes.shell import Done, Shell
from windlass.core.jobs.models import WorkerRow
from windlass.ids import WorkerId

WORKER = WorkerRow(
    id=WorkerId("host:1"),
    hostname="host",
    pid=1,
    version="1.0",
    queues=(),
    definitions=("another",),
    slots=4,
)


def levels(done: Done) -> dict[str, str]:
    return {check["code"]: check["level"] for check in done.json["checks"]}


def test_an_idle_database_has_no_broken_check(ready: Shell):
    done = ready.ok("doctor", "--json")

    assert done.json["ok"]
    found = levels(done)
    assert [found[code] for code in ("settings", "database", "clock", "journal", "migrated")] == [
        "ok"
    ] * 5
    assert found["workers"] == "warning"


def test_a_database_file_that_others_may_read_is_a_finding(ready: Shell):
    private = ready.ok("doctor", "--json")
    [database] = ready.folder.glob("*.db")
    database.chmod(0o644)

    exposed = ready.ok("doctor", "--json")

    assert levels(private)["files"] == "ok"
    assert levels(exposed)["files"] == "warning"
    assert "chmod" in str(exposed.json["checks"])


def test_a_person_sees_a_glyph_a_sentence_and_a_fix(ready: Shell):
    done = ready.at_terminal("doctor", NO_COLOR="1")

    assert done.code == 0
    assert "✓ The settings are valid." in done.out
    assert "▲ No worker is running.\n  → Start one: windlass worker" in done.out


def test_jobs_without_a_worker_are_broken(ready: Shell):
    ready.here("enqueue", "hello", "name=Ada")

    done = ready.run("doctor", "--json")

    assert done.code == 1
    assert levels(done)["workers"] == "broken"


def test_a_live_worker_that_lacks_a_definition_is_found(ready: Shell, do):
    ready.here("enqueue", "hello", "name=Ada")
    do(ready, lambda app: app.engine.workers.beat(WORKER))

    done = ready.run("doctor", "--json")

    assert done.code == 1
    assert (levels(done)["workers"], levels(done)["unserved"]) == ("ok", "broken")
    assert "hello in default (1)" in done.out


def test_settings_that_cannot_be_used_are_a_finding(shell: Shell):
    done = shell.run("doctor", "--json", WINDLASS_WORKER_CONCURRENCY="none")

    assert done.code == 1
    [check] = done.json["checks"]
    assert (check["code"], check["level"]) == ("settings", "broken")
    assert "worker.concurrency" in check["sentence"]


def test_a_database_that_does_not_answer_is_a_finding(shell: Shell):
    done = shell.run("doctor", "--db", "postgresql://app:secret@127.0.0.1:1/app")

    assert done.code == 1
    assert "broken\tCannot reach the database at 127.0.0.1:1" in done.out
    assert "secret" not in done.out + done.err


def test_a_file_that_is_no_database_is_a_finding(shell: Shell):
    (shell.folder / "windlass.db").write_text("a letter, long enough to be read as a head\n" * 20)

    done = shell.run("doctor")

    assert done.code == 1
    assert "is damaged" in done.out
    assert "restore a backup" in done.out


@pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
def test_a_database_server_gets_its_own_checks(shell_on: Callable[[str], Shell], database):
    shell = shell_on(database.url)

    found = levels(shell.ok("doctor", "--json"))

    own = {"postgresql": {"pooler", "pinned", "vacuum"}, "mariadb": {"isolation"}}[database.kind]
    assert {code: found[code] for code in own} == dict.fromkeys(own, "ok")


@pytest.mark.database("postgresql")
def test_a_server_without_tables_says_what_is_pending(
    shell_on: Callable[[str], Shell], new_database
):
    shell = shell_on(new_database("postgresql").url)

    done = shell.run("doctor", "--json")

    assert done.code == 1
    assert done.json["checks"][-1]["fix"] == "windlass db migrate"


def test_a_missing_file_is_a_finding_and_not_created(shell: Shell):
    done = shell.ok("doctor", "--json")

    assert levels(done) == {"settings": "ok", "database": "warning"}
    assert "windlass.db does not exist" in done.json["checks"][1]["sentence"]
    assert "`windlass dev`" in done.json["checks"][1]["fix"]
    assert not (shell.folder / "windlass.db").exists()


@pytest.mark.database("postgresql")
def test_the_address_for_wake_up_signals_is_checked(shell_on: Callable[[str], Shell], new_database):
    url, another = new_database("postgresql").url, new_database("postgresql").url
    shell = shell_on(url)
    shell.ok("db", "migrate")

    def listening(direct: str) -> str:
        found = shell.run("doctor", "--json", WINDLASS_DATABASE_LISTEN_URL=direct)
        assert "hunter2" not in found.out
        return levels(found)["listening"]

    assert listening(url) == "ok"
    assert listening("postgresql://ada:hunter2@127.0.0.1:1/x") == "broken"
    assert listening(another) == "broken"


def test_over_http_the_server_is_checked(ready: Shell):
    server = ready.start("serve", "--no-auth", "--port", "0")
    url = address(server)

    here = ready.ok("--url", url, "doctor", "--json")
    server.stop()
    server.ends()
    gone = ready.run("--url", url, "doctor", "--json")

    assert levels(here) == {"server": "ok", "ready": "ok", "workers": "warning"}
    assert gone.code == 1
    assert levels(gone) == {"server": "broken"}
