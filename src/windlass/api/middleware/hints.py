"""Hints in paths of the API, where errors and explanations name commands of the shell."""

import re
from collections.abc import Mapping
from urllib.parse import quote

from windlass.api.routing import Request

#: A header of requests that says who shows the response, and its value for the command line.
CALLER, COMMANDS = "x-windlass-caller", "commands"
_PREFIX = "/api/v1"
#: A command -> the request that does the same. Commands that start or set up a process have none: they
#: are for whoever runs the server.
REQUESTS: Mapping[str, str] = {
    "audit head": "GET /audit/heads",
    "dead groups": "GET /dead/groups",
    "definitions disable": "POST /definitions/{key}/disable",
    "definitions enable": "POST /definitions/{key}/enable",
    "definitions limits": "PATCH /definitions/{key}",
    "definitions list": "GET /definitions",
    "definitions schema": "GET /definitions/{key}",
    "definitions show": "GET /definitions/{key}",
    "events list": "GET /events",
    "jobs clone": "POST /jobs/{job_id}/clone",
    "jobs explain": "GET /jobs/{job_id}/explain",
    "jobs list": "GET /jobs",
    "jobs run-now": "POST /jobs/{job_id}/run-now",
    "jobs show": "GET /jobs/{job_id}",
    "jobs update": "PATCH /jobs/{job_id}",
    "login": "POST /login",
    "members list": "GET /members",
    "members role": "PATCH /members/{id}",
    "queues resume": "POST /queues/{name}/resume",
    "schedules list": "GET /schedules",
    "schedules preview": "GET /schedules/preview",
    "tenants change": "PATCH /tenants/{id}",
    "tenants create": "POST /tenants",
    "tenants list": "GET /tenants",
    "tenants resume": "POST /tenants/{id}/resume",
    "tenants suspend": "POST /tenants/{id}/suspend",
    "tokens create": "POST /tokens",
    "tokens list": "GET /tokens",
    "triggers enable": "POST /triggers/{id}/enable",
    "triggers list": "GET /triggers",
    "users invite": "POST /users/invite",
    "users list": "GET /users",
    "workers list": "GET /workers",
    "workers resume": "POST /workers/{id}/resume",
}
_COMMAND = re.compile(r"`windlass ([a-z][a-z-]*(?: [a-z][a-z-]*)?)(?: ([^`]*))?`")
#: What an explanation says: a command at its start, and perhaps words after it.
_ALONE = re.compile(r"^windlass ([a-z][a-z-]*(?: [a-z][a-z-]*)?)(?: (\S+))?")
_PARAMETER = re.compile(r"\{\w+\}")


def is_cli_request(request: Request) -> bool:
    """True for a request of the command line: its problems name flags and commands."""
    return request.headers.get(CALLER) == COMMANDS


def commands_to_requests(text: str) -> str:
    """Text with each command that a request can do spelled as that request."""
    return _ALONE.sub(lambda each: _request(each).strip("`"), _COMMAND.sub(_request, text))


def _request(found: re.Match[str]) -> str:
    words, rest = found[1], found[2] or ""
    request = REQUESTS.get(words)
    if request is None:  # what looked like a verb may be what a command of one word is about
        noun, _, about = words.partition(" ")
        request, rest = REQUESTS.get(noun), f"{about} {rest}".strip()
    if request is None:
        return found[0]
    method, _, path = request.partition(" ")
    if rest and not rest.startswith(("-", "<")):
        path = _PARAMETER.sub(lambda _: quote(rest.split()[0], safe=""), path, count=1)
    return f"`{method} {_PREFIX}{path}`"
