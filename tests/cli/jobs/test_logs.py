"""`windlass logs`: lines of all jobs, found and followed."""

import json

from tests.support.processes.shell import Shell


def test_lines_of_all_jobs_are_found_by_words_and_level(ready: Shell):
    ready.here("enqueue", "wait_for", "file=jobs.py")
    ready.ok("worker", "jobs.py", "--drain")

    [hit] = ready.here("logs", "search", "waiting", "--json").json["items"]
    all_of_them = ready.here("logs", "search", "--json").json["items"]
    shown = ready.at_terminal("logs", "search", "--definition", "wait_for").out

    assert (hit["definition"], hit["level"]) == ("wait_for", "info")
    assert hit in all_of_them
    assert "waiting file=jobs.py" in shown
    assert ready.here("logs", "search", "-o", "id", "waiting").out.strip() == hit["job_id"]
    assert ready.here("logs", "search", "nothing").err == "No lines match.\n"
    assert ready.here("logs", "search", "waiting", "--level", "error", "--json").json["items"] == []
    for worse in (["logs", "search", "waiting"], ["jobs", "logs", hit["job_id"]]):
        assert len(ready.here(*worse, "--level", "debug", "--json").json["items"]) == 1


def test_lines_are_printed_as_they_arrive(ready: Shell):
    ready.here("enqueue", "wait_for", "file=jobs.py")
    tail = ready.start("logs", "tail", "--json")

    ready.ok("worker", "jobs.py", "--drain")

    line = json.loads(tail.sees('"waiting"').splitlines()[0])
    assert (line["definition"], line["fields"]) == ("wait_for", {"file": "jobs.py"})
    tail.stop(2)
    assert tail.ends() == 130
