"""`windlass queues`: show, pause, resume and limit from the shell."""

import pytest

from tests.cli.run.test_serve import address
from tests.support.processes.shell import Shell


@pytest.fixture
def busy(ready: Shell) -> Shell:
    """A shell whose database has a queued job in the queue `mail`."""
    ready.here("enqueue", "hello", "name=Ada", "--queue", "mail")
    return ready


def test_a_queue_is_paused_with_a_reason_and_resumed(busy: Shell):
    paused = busy.ok("queues", "pause", "mail", "--reason", "the relay is down", "--json").json
    [row] = busy.here("queues", "list", "--json").json["items"]
    shown = busy.at_terminal("queues", "list", width=120).out
    resumed = busy.here("queues", "resume", "mail", "--json").json

    assert (row["name"], row["queued"]) == ("mail", 1)
    assert row["pause_reason"] == paused["pause_reason"] == "the relay is down"
    assert "❚❚ Paused" in shown
    assert "the relay is down" in shown
    assert resumed["paused_at"] is None


def test_a_queue_is_limited_and_the_limit_lifted(busy: Shell):
    busy.here("queues", "limits", "mail", "--max-concurrency", "4")
    limited = busy.here("queues", "limits", "mail").lines
    busy.here("queues", "limits", "mail", "--max-concurrency", "none")

    assert "max_concurrency\t4" in limited
    assert busy.here("queues", "show", "mail", "--json").json["max_concurrency"] is None


def test_several_queues_are_paused_only_after_a_confirmation(busy: Shell):
    asked = busy.run("queues", "pause", "mail", "media")
    looked = busy.here("queues", "pause", "mail", "media", "--dry-run")
    busy.here("queues", "pause", "mail", "media", "--yes")

    assert asked.code == 2
    assert looked.lines == ["mail", "media"]
    states = {
        one["name"]: one["paused_at"] for one in busy.here("queues", "list", "--json").json["items"]
    }
    assert all(states.values())


def test_over_http_it_is_the_same(busy: Shell):
    server = busy.start("serve", "--no-auth", "--port", "0")
    far = ("--url", address(server))

    busy.here("queues", "pause", "mail", *far)

    assert busy.here("queues", "list", "--json", *far).json["items"][0]["paused_at"]
    assert busy.here("workers", "list", "--json", *far).json == {"items": []}
    assert busy.here("logs", "search", "hello", "--json", *far).json["items"] == []
    assert busy.here("definitions", "list", "-o", "id", *far).lines[0] == "count"
