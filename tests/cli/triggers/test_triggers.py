"""`windlass triggers` and `windlass events`: what happens, and what it makes."""

import json
from collections.abc import Callable

import pytest

from tests.cli.run.test_serve import address
from tests.support.processes.shell import Shell

GREET = (
    "triggers", "create", "--name", "greet", "--event", "member.joined", "--definition", "hello",
    "--payload", '{"name": "{{event.name}}"}', "--condition", '{"age": {"gte": 18}}',
)  # fmt: skip


@pytest.fixture
def greeting(ready: Shell) -> Shell:
    """A shell whose database greets grown-up members."""
    ready.here(*GREET)
    return ready


@pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
def test_an_event_goes_from_the_shell_to_the_job_of_its_trigger(
    shell_on: Callable[[str], Shell], database
):
    shell = shell_on(database.url)
    shell.ok("definitions", "sync", "jobs.py")
    shell.ok(*GREET)

    emitted = shell.ok("events", "emit", "member.joined", "name=Ada", "age=36")

    [job] = shell.ok("jobs", "list", "--json").json["items"]
    event = shell.ok("events", "show", emitted.out.strip()[-8:], "--json").json
    assert emitted.err == "1 job made.\n"
    assert (job["definition"], job["source"]) == ("hello", "event")
    assert (event["data"], event["jobs"]) == ({"name": "Ada", "age": 36}, 1)


def test_a_trigger_is_changed_listed_and_deleted(greeting: Shell):
    greeting.here("triggers", "update", "greet", "--event", "member.confirmed")
    off = greeting.here("triggers", "disable", "greet", "--json").json
    [trigger] = greeting.here("triggers", "list", "--json").json["items"]
    greeting.here("triggers", "delete", trigger["id"][-6:], "--yes")

    assert (trigger["event_name"], off["enabled"]) == ("member.confirmed", False)
    assert trigger["condition"] == {"age": {"gte": 18}}
    assert greeting.here("triggers", "list", "--json").json["items"] == []


@pytest.mark.parametrize(
    ("data", "matches", "said"),
    [
        (["name=Ada", "age=36"], True, '✓ It would make a job with {"name": "Ada"}'),
        (["name=Bob", "age=3"], False, "⊘ It would make no job: it does not hold that"),
        (["age=36"], True, "✕ It matches, but its job cannot be made"),
    ],
)
def test_a_test_shows_the_job_and_creates_none(greeting: Shell, data, matches, said):
    body = greeting.here("triggers", "test", "greet", *data, "--json").json
    shown = greeting.here("triggers", "test", "greet", *data, "--color", "always").out

    assert body["matches"] is matches
    assert said in shown
    assert greeting.here("events", "list", "--json").json["items"] == []


def test_a_test_takes_an_emitted_event(greeting: Shell):
    event = greeting.here("events", "emit", "member.joined", "name=Eve", "age=20").out.strip()

    body = greeting.here("triggers", "test", "greet", "--event", event[-8:], "--json").json
    both = greeting.run("triggers", "test", "greet", "name=Ada", "--event", event)

    assert body["payload"] == {"name": "Eve"}
    assert both.code == 2


@pytest.mark.parametrize(
    "wrong", [["--condition", "{"], ["--payload", "1"], ["--enabled", "1"], ["--delay", "x"]]
)
def test_invalid_input_is_refused_before_any_request(shell: Shell, wrong):
    done = shell.run(*GREET, *wrong, "--url", "http://127.0.0.1:9")

    assert done.code == 2


def test_a_person_sees_the_event_of_a_trigger(greeting: Shell):
    shown = greeting.at_terminal("triggers", "list", width=120).out
    one = greeting.at_terminal("triggers", "show", "greet").out

    assert "on member.joined" in shown
    assert "age is at least 18" in one or "age" in one


def test_a_dry_run_of_an_event_shows_the_effect_of_its_triggers(greeting: Shell):
    done = greeting.here("events", "emit", "member.joined", "name=Ada", "age=36", "--dry-run")
    nobody = greeting.here("events", "emit", "member.left", "--dry-run")

    header, row = (line.split("\t") for line in done.lines)
    assert dict(zip(header, row, strict=True))["matches"] == "true"
    assert done.err == "Nothing was emitted.\n"
    assert nobody.err == "No trigger waits for member.left.\n"
    assert greeting.here("events", "list", "--json").json["items"] == []


def test_events_are_listed_newest_first_and_emitted_again(greeting: Shell):
    first = greeting.here("events", "emit", "member.joined", "name=Ada", "age=36").out.strip()
    second = greeting.here("events", "emit", "other", "--payload", '{"a": [1]}').out.strip()

    copy = greeting.here("events", "replay", first[-8:]).out.strip()

    assert greeting.here("events", "list", "-o", "id").lines == [copy, second, first]
    assert len(greeting.here("jobs", "list", "-o", "id").lines) == 2
    assert "member.joined" in greeting.at_terminal("events", "list").out


def test_several_events_are_replayed_only_after_a_confirmation(greeting: Shell):
    ids = [greeting.here("events", "emit", "other").out.strip() for _ in range(2)]

    asked = greeting.run("events", "replay", *ids)
    partly = greeting.run("events", "replay", ids[0], "0190a5d0-0000-7000-8000-000000000000", "-y")

    assert asked.code == 2
    assert asked.err.startswith("error[WL2002]: replaying 2 events needs a confirmation.")
    assert partly.code == 7
    assert "1 done, 1 refused." in partly.err


def test_an_event_shows_which_triggers_matched_and_why_others_did_not(greeting: Shell):
    greeting.here("triggers", "update", "greet", "--dedupe-key", "{{event.name}}")
    for age in (36, 36, 3):
        greeting.here("events", "emit", "member.joined", "name=Ada", f"age={age}")
    late, again, first = greeting.here("events", "list", "-o", "id").lines

    shown = {id: greeting.at_terminal("events", "show", id).out for id in (first, again, late)}
    found = greeting.here("events", "list", "--name", "other", "--since", "-2h", "-o", "id")

    assert "✓ created" in shown[first]
    assert "= existing" in shown[again]
    assert "⊘ unmatched" in shown[late]
    assert "it does not hold that" in shown[late]
    assert (found.lines, "No events match." in found.err) == ([], True)


def test_events_are_printed_as_they_arrive(greeting: Shell):
    greeting.here("events", "emit", "before", "n=1")
    tail = greeting.start("events", "tail", "--json")
    tail.sees('"before"')

    greeting.here("events", "emit", "after", "n=2")
    greeting.here("events", "emit", "afterwards", "n=3")

    seen = tail.sees('"afterwards"')
    names = [json.loads(line)["name"] for line in seen.splitlines()]
    assert names == ["before", "after", "afterwards"]
    tail.stop(2)
    assert tail.ends() == 130


def test_over_http_it_is_the_same(greeting: Shell):
    server = greeting.start("serve", "--no-auth", "--port", "0")
    far = ("--url", address(server))

    event = greeting.here("events", "emit", "member.joined", "name=Ada", "age=36", *far).out.strip()

    assert greeting.here("events", "show", event, "--json", *far).json["jobs"] == 1
    assert (
        greeting.here("triggers", "list", "--json", *far).json
        == greeting.here("triggers", "list", "--json").json
    )
    assert greeting.run("events", "show", "abcdef", *far).code == 3
