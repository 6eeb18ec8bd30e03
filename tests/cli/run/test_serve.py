"""`windlass serve`: the API of a real process over a real socket."""

import json
import re
import socket
import urllib.error
import urllib.request

import pytest

from tests.cli.dev.test_dev import signed_in
from tests.support.processes.shell import Shell, Started


def address(server: Started) -> str:
    said = server.sees(r"The API is at (\S+)/api/v1")
    return re.search(r"The API is at (\S+)/api/v1", said)[1]


def ask(url: str, body: object = None) -> tuple[int, dict]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.status, json.load(answer)


@pytest.mark.parametrize("number", [15, 2])
def test_it_serves_until_it_is_stopped(ready: Shell, number):
    server = ready.start("serve", "--no-auth", "--port", "0")
    url = address(server)

    status, made = ask(f"{url}/api/v1/jobs", {"definition": "hello", "payload": {"name": "Ada"}})
    server.stop(number)

    assert (status, made["job"]["state"]) == (201, "queued")
    assert server.ends() == 0


def test_without_authentication_other_sites_reach_nothing(ready: Shell):
    server = ready.start("serve", "--no-auth", "--port", "0")
    url = f"{address(server)}/api/v1/tokens"

    codes = []
    for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
        asked = urllib.request.Request(url, b"{}", {"content-type": "text/plain", **headers})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=20)
        codes.append((refused.value.code, json.load(refused.value)["code"]))
    server.stop()

    assert codes == [(403, "WL4431"), (403, "WL4432")]
    assert server.ends() == 0


def test_with_all_it_runs_the_jobs_too(ready: Shell):
    server = ready.start("serve", "jobs.py", "--all", "--no-auth", "--port", "0")
    url = address(server)

    _, made = ask(f"{url}/api/v1/jobs", {"definition": "hello", "payload": {"name": "Ada"}})
    job = f"{url}/api/v1/jobs/{made['job']['id']}"
    while (shown := ask(job)[1])["state"] != "completed":
        pass
    server.stop()

    assert shown["result"] == "Hello, Ada!"
    assert server.ends() == 0


def test_it_is_not_ready_from_the_signal_on_while_its_jobs_finish(ready: Shell):
    server = ready.start("serve", "jobs.py", "--all", "--no-auth", "--port", "0")
    url = address(server)
    _, made = ask(f"{url}/api/v1/jobs", {"definition": "wait_for", "payload": {"file": "go"}})
    while ask(f"{url}/api/v1/jobs/{made['job']['id']}")[1]["state"] != "running":
        pass

    server.stop()
    refused = None
    while refused is None:
        try:
            ask(f"{url}/readyz")
        except urllib.error.HTTPError as error:
            refused = error.code, json.load(error)["code"]
    ready.write("go", "")

    assert refused == (503, "WL1112")
    assert server.ends() == 0
    assert ready.ok("jobs", "show", made["job"]["id"], "--json").json["state"] == "completed"


def test_without_workers_it_works_on_bulk_operations(ready: Shell):
    server = ready.start("serve", "--no-auth", "--port", "0")
    url = address(server)
    _, made = ask(f"{url}/api/v1/jobs", {"definition": "hello", "payload": {"name": "Ada"}})

    _, begun = ask(f"{url}/api/v1/operations", {"action": "cancel", "q": "state:queued"})
    while (shown := ask(f"{url}/api/v1/operations/{begun['id']}")[1])["state"] == "running":
        pass
    job = ask(f"{url}/api/v1/jobs/{made['job']['id']}")[1]
    server.stop()

    assert (shown["state"], shown["done"], job["state"]) == ("completed", 1, "canceled")
    assert server.ends() == 0


def test_without_authentication_it_listens_on_loopback_only(ready: Shell):
    refused = ready.run("serve", "--no-auth", "--host", "0.0.0.0")

    assert refused.code == 2
    assert "with --no-auth" in refused.err


def test_a_port_in_use_is_an_error(ready: Shell):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])

        served = ready.run("serve", "--no-auth", "--port", port)
        probed = ready.run("worker", "jobs.py", "--drain", WINDLASS_WORKER_HEALTH_PORT=port)

    for refused, option in ((served, "--port"), (probed, "worker.health_port")):
        assert refused.code == 2
        assert f"cannot listen at 127.0.0.1, port {port}." in refused.err
        assert "Another program listens there." in refused.err
        assert f"Give another {option}, or find the program: `" in refused.err
        assert "Traceback" not in refused.err


def test_a_host_of_another_machine_is_an_error(ready: Shell):
    refused = ready.run("serve", "--host", "192.0.2.1", "--port", "0")

    assert refused.code == 2
    assert "cannot listen at 192.0.2.1, port 0." in refused.err
    assert "an address of this machine" in refused.err


def test_changes_of_other_processes_reach_a_stream_which_ends_with_the_server(ready: Shell):
    server = ready.start("serve", "--no-auth", "--port", "0")
    url = address(server)

    with urllib.request.urlopen(f"{url}/api/v1/stream?topics=jobs", timeout=20) as stream:
        until_event(stream, "ready")
        ready.run("enqueue", "hello", "name=Ada")
        change = until_event(stream, "changes")
        server.stop()
        rest = stream.read()

    assert change["changes"][0]["counts"]["queued"] == 1
    assert b"event:" not in rest
    assert server.ends() == 0


def until_event(stream, name: str) -> dict:
    """The data of the next event with that name."""
    for line in stream:
        if line.strip() == f"event: {name}".encode():
            return json.loads(next(stream).removeprefix(b"data: "))
    raise AssertionError(f"the stream ended without {name}")


def test_a_token_created_on_the_command_line_opens_the_api(ready: Shell):
    secret = ready.ok("tokens", "create", "deploy", "--role", "superadmin").out.strip()
    server = ready.start("serve", "--port", "0")
    url = address(server)

    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(f"{url}/api/v1/jobs")
    request = urllib.request.Request(
        f"{url}/api/v1/whoami", headers={"authorization": f"Bearer {secret}"}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        known = json.load(answer)
    server.stop()

    assert refused.value.code == 401
    assert json.load(refused.value)["code"] == "WL5101"
    assert (known["name"], "jobs.read" in known["rights"]) == ("deploy", True)
    assert server.ends() == 0


def test_a_sign_in_link_is_printed_until_an_administrator_has_signed_in(ready: Shell):
    server = ready.start("serve", "--port", "0")
    server.sees(
        r"No administrator has signed in yet. Set up the first one within an hour: http://\S+/setup\?key=wlk_\S+"
    )
    url = address(server)

    by_hand = ready.ok("users", "link", "admin", "--login", "--at", url).out.strip()
    signed_in(url, by_hand.partition("=")[2])
    server.stop()
    again = ready.start("serve", "--port", "0")
    address(again)
    again.stop()

    assert (server.ends(), again.ends()) == (0, 0)
    assert "Set up" not in again.text


def test_users_are_created_and_listed_on_the_command_line(ready: Shell):
    link = ready.ok("users", "create", "Ada", "--at", "https://jobs.example.com/").out.strip()

    listed = ready.ok("users", "list", "--json").json["items"]
    nobody = ready.run("users", "link", "eve")

    assert link.startswith("https://jobs.example.com/password?link=wlk_")
    assert [(each["name"], each["superadmin"]) for each in listed] == [("ada", True)]
    assert (nobody.code, nobody.err.startswith("error[WL5201]")) == (3, True)
