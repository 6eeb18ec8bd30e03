"""`windlass workers list|show`."""

from tests.support.processes.shell import Shell


def test_a_worker_is_listed_and_shown_while_it_runs(ready: Shell):
    worker = ready.start("worker", "jobs.py")
    worker.sees("Running")

    [row] = ready.here("workers", "list", "--json").json["items"]
    one = ready.here("workers", "show", row["id"][-8:], "--json").json
    shown = ready.at_terminal("workers", "list", width=140).out
    facts = ready.at_terminal("workers", "show", row["id"]).out
    lost = ready.run("workers", "show", "web-2:411")

    assert one["id"] == row["id"]
    assert "hello" in one["definitions"]
    assert "● Live" in shown
    assert "hello" in facts
    assert lost.code == 3
    assert lost.err.startswith('error[WL3601]: no worker "web-2:411".')
    worker.stop()
    assert worker.ends() == 0
    assert ready.here("workers", "list").err == "No worker is running.\n"
