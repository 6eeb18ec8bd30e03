"""`windlass jobs clone|export|graph` and `enqueue --follow`."""

import json
import signal

from tests.support.processes.shell import Shell


def test_a_clone_has_the_payload_and_queue_of_its_job(ready: Shell):
    id = ready.here(
        "enqueue", "hello", "name=Ada", "--queue", "mail", "--priority", "high", "--in", "1h"
    ).out.strip()

    made = ready.ok("jobs", "clone", id[-8:]).out.strip()
    checked = ready.here("jobs", "clone", id, "--dry-run")

    clone = ready.here("jobs", "show", made, "--json").json
    assert made != id
    assert (clone["payload"], clone["queue"], clone["priority"]) == ({"name": "Ada"}, "mail", 50)
    assert clone["view"] == "queued"
    assert "nothing was stored" in checked.err
    assert len(ready.here("jobs", "list", "-o", "id").lines) == 2


def test_a_clone_keeps_the_secrets_of_the_payload(ready: Shell):
    id = ready.here("enqueue", "login", "user=ada", "secret=hunter2-hunter2").out.strip()
    ready.here("jobs", "cancel", id)

    made = ready.here("jobs", "clone", id, "--json")

    assert made.json["job"]["payload"]["secret"] == "•••"
    assert "hunter2" not in made.out
    ready.ok("worker", "jobs.py", "--drain")
    # The handler got the real secret: its error contains it, masked.
    error = ready.here("jobs", "show", made.json["job"]["id"], "--json").json["last_error"]
    assert error == "Permanent: wrong password=•••"


def test_a_clone_of_an_unknown_job_is_not_found(ready: Shell):
    assert ready.run("jobs", "clone", "abcdef12").code == 3


def test_an_export_has_every_page(ready: Shell, do):
    async def fill(app):
        await app.enqueue_many([await app.make("hello", {"name": "Ada"}) for _ in range(620)])

    do(ready, fill)
    ready.here("enqueue", "count", "number=3")

    everything = ready.ok("jobs", "export")
    some = ready.here("jobs", "export", "--where", "definition:count", "--whole")

    jobs = [json.loads(line) for line in everything.lines]
    assert len({job["id"] for job in jobs}) == 621
    assert everything.err == "621 jobs exported.\n"
    assert json.loads(some.out)["payload"]["number"] == 3


def test_a_graph_lists_parents_and_children(ready: Shell):
    parent = ready.here("enqueue", "hello", "name=Ada", "--hold").out.strip()
    child = ready.here("enqueue", "hello", "name=Bob", "--after", parent).out.strip()

    [edge] = ready.ok("jobs", "graph", child[-8:], "--json").json["edges"]
    person = ready.at_terminal("jobs", "graph", parent).out
    alone = ready.here("jobs", "clone", parent).out.strip()

    assert (edge["parent_id"], edge["child_id"]) == (parent, child)
    assert "is waited for by" in person
    assert child[-8:] in person
    assert "no parents and no children" in ready.here("jobs", "graph", alone).err


def test_a_job_is_followed_from_its_first_line_to_its_result(ready: Shell):
    worker = ready.start("worker", "jobs.py")
    following = ready.start("enqueue", "wait_for", "file=flag", "--follow")
    following.sees("waiting file=flag")

    ready.write("flag", "")

    assert following.ends() == 0
    following.sees(r"^done$")
    worker.stop()


def test_following_ends_at_the_timeout(ready: Shell):
    late = ready.run("enqueue", "hello", "name=Ada", "--follow", "--timeout", "3s")

    assert late.code == 9
    assert late.err.splitlines()[1].startswith("error[WL3402]")


def test_an_interrupt_ends_following(ready: Shell):
    following = ready.start("enqueue", "hello", "name=Ada", "--follow")
    following.sees("waiting for its end")

    following.stop(signal.SIGINT)

    assert following.ends() == 130
    assert "Traceback" not in following.text
