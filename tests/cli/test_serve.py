"""`windlass serve`: the API of a real process, asked over a real socket."""

import json
import re
import urllib.request

import pytest

from tests.cli.shell import Shell, Started


def address(server: Started) -> str:
    said = server.sees(r"The API is at (\S+)/api/v1")
    return re.search(r"The API is at (\S+)/api/v1", said)[1]


def ask(url: str, body: object = None) -> tuple[int, dict]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.status, json.load(answer)


@pytest.mark.parametrize("number", [15, 2])
def test_it_serves_until_it_is_told_to_stop(ready: Shell, number):
    server = ready.start("serve", "--port", "0")
    url = address(server)

    status, made = ask(f"{url}/api/v1/jobs", {"definition": "hello", "payload": {"name": "Ada"}})
    server.stop(number)

    assert (status, made["job"]["state"]) == (201, "queued")
    assert server.ends() == 0


def test_with_all_it_runs_the_jobs_too(ready: Shell):
    server = ready.start("serve", "jobs.py", "--all", "--port", "0")
    url = address(server)

    _, made = ask(f"{url}/api/v1/jobs", {"definition": "hello", "payload": {"name": "Ada"}})
    job = f"{url}/api/v1/jobs/{made['job']['id']}"
    while (shown := ask(job)[1])["state"] != "completed":
        pass
    server.stop()

    assert shown["result"] == "Hello, Ada!"
    assert server.ends() == 0


def test_without_authentication_it_listens_on_loopback_only(ready: Shell):
    refused = ready.run("serve", "--host", "0.0.0.0")

    assert refused.code == 2
    assert "without authentication" in refused.err


def test_a_port_that_is_taken_is_told(ready: Shell):
    server = ready.start("serve", "--port", "0")
    port = address(server).rsplit(":", 1)[1]

    refused = ready.run("serve", "--port", port)

    assert refused.code == 2
    assert port in refused.err


def test_what_another_process_does_reaches_a_stream_which_ends_with_the_server(ready: Shell):
    server = ready.start("serve", "--port", "0")
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
    """The data of the next event of that name."""
    for line in stream:
        if line.strip() == f"event: {name}".encode():
            return json.loads(next(stream).removeprefix(b"data: "))
    raise AssertionError(f"the stream ended without {name}")
