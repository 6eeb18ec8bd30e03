"""`windlass dead groups|mute|unmute`."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.jobs.test_dead import _groups, failed  # noqa: F401  a fixture
from tests.cli.run.test_serve import address
from tests.support.processes.shell import Shell


def _all(shell: Shell, *more: str) -> dict[str, dict]:
    found = shell.here("dead", "groups", "--all", "--json", *more).json["items"]
    return {group["definition"]: group for group in found}


def test_a_muted_cause_is_listed_only_with_all(failed: Shell):  # noqa: F811
    cause = _groups(failed)["fail"]["fingerprint"]

    muted = failed.ok("dead", "mute", cause[:8], "--for", "7d", "--reason", "paper is ordered")
    shown = failed.at_terminal("dead", "groups", "--all", width=160).out

    assert muted.out.strip() == cause
    assert list(_groups(failed)) == ["login"]
    assert "for 7 d" in shown or "for 6 d" in shown
    assert "paper is ordered" in shown
    group = _all(failed)["fail"]
    assert (group["count"], group["reason"]) == (3, "paper is ordered")
    assert group["muted_by"]
    assert group["muted_until"] > group["muted_at"]


def test_an_unmuted_cause_is_listed_again(failed: Shell):  # noqa: F811
    cause = _groups(failed)["fail"]["fingerprint"]
    failed.here("dead", "mute", f"fail/{cause[:8]}")

    unmuted = failed.ok("dead", "unmute", cause[:8], "--json").json

    assert unmuted["muted_at"] is None
    assert set(_groups(failed)) == {"fail", "login"}


def test_several_are_muted_after_a_confirmation(failed: Shell):  # noqa: F811
    causes = [group["fingerprint"][:8] for group in _groups(failed).values()]

    alone = failed.run("dead", "mute", *causes)
    looked = failed.here("dead", "mute", *causes, "--dry-run")
    before = _groups(failed)
    failed.here("dead", "mute", *causes, "--yes")

    assert (alone.code, len(looked.lines), len(before)) == (2, 2, 2)
    assert failed.here("dead", "groups").err == "Every group is muted; --all shows them.\n"
    assert len(_all(failed)) == 2


def test_an_unknown_cause_is_an_error(failed: Shell):  # noqa: F811
    unknown = failed.run("dead", "mute", "zzzzzzzz")
    of_it = failed.run("dead", "mute", "zzzzzzzz", "--definition", "fail")
    empty = failed.run("dead", "mute", "")

    assert [unknown.code, of_it.code, empty.code] == [3, 3, 3]
    assert unknown.err.startswith("error[WL3306]")


def test_an_ambiguous_cause_is_an_error(ready: Shell):
    for letter in "abcdefghijklmnopq":  # more than there are digits for a cause to begin with
        ready.here("enqueue", "fail", f"why=out of {letter * 5}")
    ready.ok("worker", "jobs.py", "--drain")
    found = ready.here("dead", "groups", "--json").json["items"]
    starts = [group["fingerprint"][0] for group in found]
    shared = next(start for start in starts if starts.count(start) > 1)

    refused = ready.run("dead", "mute", shared)

    assert refused.code == 2
    assert refused.err.startswith("error[WL3303]")
    assert "fail/" in refused.err


@pytest.mark.parametrize("time", ["soon", "0s", "7"])
def test_an_invalid_duration_is_an_error(failed: Shell, time):  # noqa: F811
    cause = _groups(failed)["fail"]["fingerprint"]

    assert failed.run("dead", "mute", cause, "--for", time).code == 2
    assert "fail" in _groups(failed)


def test_a_tenants_mute_is_its_own(failed: Shell, do: Callable[..., Any]):  # noqa: F811
    do(failed, lambda app: app.tenants.create("acme"))
    failed.here("enqueue", "fail", "why=out of paper", "--tenant", "acme")
    failed.ok("worker", "jobs.py", "--drain")
    cause = _groups(failed)["fail"]["fingerprint"]

    failed.here("dead", "mute", cause, "--tenant", "acme")
    own = failed.here("dead", "groups", "--tenant", "acme", "--json").json["items"]
    failed.here("dead", "mute", cause)
    told = failed.at_terminal("dead", "unmute", cause, "--tenant", "acme").out

    assert own == []
    assert "for all tenants" in told
    assert "fail" not in _groups(failed)


def test_the_doctor_does_not_count_muted_jobs(failed: Shell):  # noqa: F811
    for _ in range(20):
        failed.here("enqueue", "fail", "why=out of paper")
    failed.ok("worker", "jobs.py", "--drain")
    failed.ok("scheduler", "--once")
    cause = _groups(failed)["fail"]["fingerprint"]

    before = _check(failed)
    failed.here("dead", "mute", cause)
    after = _check(failed)

    assert (before["level"], after["level"]) == ("warning", "ok")
    assert "23 jobs of muted causes not counted" in after["sentence"]


def _check(shell: Shell) -> dict:
    checks = shell.run("doctor", "--json").json["checks"]
    return next(check for check in checks if check["code"] == "dead_letter")


def test_over_http_it_is_the_same(failed: Shell):  # noqa: F811
    far = ("--url", address(failed.start("serve", "--no-auth", "--port", "0")))
    cause = _groups(failed)["fail"]["fingerprint"]

    failed.here("dead", "mute", cause[:8], "--reason", "known", *far)
    hidden = _groups(failed)
    shown = _all(failed, *far)
    failed.here("dead", "unmute", cause[:8], *far)

    assert list(hidden) == ["login"]
    assert shown["fail"]["reason"] == "known"
    assert set(_groups(failed)) == {"fail", "login"}


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_on_a_database_server_it_is_the_same(shell_on, database):
    shell = shell_on(database.url)
    shell.ok("worker", "jobs.py", "--drain")
    shell.here("enqueue", "fail", "why=out of paper")
    shell.ok("worker", "jobs.py", "--drain")
    cause = _groups(shell)["fail"]["fingerprint"]

    shell.ok("dead", "mute", cause[:8], "--for", "1h")

    assert _groups(shell) == {}
    assert _all(shell)["fail"]["muted_until"]
