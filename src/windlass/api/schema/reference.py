"""API reference as Markdown, generated from the OpenAPI document, with examples."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fastapi import FastAPI


class Example(NamedTuple):
    """A request to try. `keeps` names the part of the response for later examples; `key` is its
    idempotency key."""

    title: str
    method: str
    path: str
    body: str = ""
    keeps: str = ""
    key: str = ""


#: Run in this order: each may use values kept by earlier ones.
EXAMPLES: Sequence[Example] = (
    Example("Enqueue a job", "POST", "/jobs",
            '{"definition": "hello", "payload": {"name": "Ada"}}', keeps="JOB=.job.id"),
    Example("Enqueue many in one transaction", "POST", "/jobs/batch",
            '{"jobs": [{"definition": "hello", "payload": {"name": "Ada"}}, '
            '{"definition": "hello", "payload": {"name": "Grace"}, "priority": "high"}]}'),
    Example("Watch it", "GET", "/jobs/$JOB"),
    Example("Wait up to two seconds for it to end", "GET", "/jobs/$JOB/wait?timeout=2"),
    Example("Explain why it is not running", "GET", "/jobs/$JOB/explain"),
    Example("Find jobs", "GET", "/jobs?state=queued,retrying&definition=hello&limit=10"),
    Example("Change it while it waits", "PATCH", "/jobs/$JOB",
            '{"priority": "high", "queue": "mail", "delay_seconds": 60}'),
    Example("Cancel it", "POST", "/jobs/$JOB/cancel", '{"reason": "not needed"}'),
    Example("Retry it", "POST", "/jobs/$JOB/retry"),
    Example("Clone it", "POST", "/jobs/$JOB/clone"),
    Example("Get its history", "GET", "/jobs/$JOB/history"),
    Example("Check a schedule without storing it", "POST", "/schedules?dry_run=true",
            '{"name": "hourly", "type": "interval", "definition": "hello", '
            '"interval_seconds": 3600, "payload": {"name": "Ada"}}'),
    Example("Create a schedule", "POST", "/schedules",
            '{"name": "nightly", "type": "cron", "definition": "hello", "cron": "0 2 * * 1-5", '
            '"timezone": "Europe/Berlin", "payload": {"name": "Ada"}}', keeps="SCHEDULE=.id"),
    Example("Run it now", "POST", "/schedules/$SCHEDULE/run"),
    Example("Disable it", "POST", "/schedules/$SCHEDULE/disable"),
    Example("Create a job for every event", "POST", "/triggers",
            '{"name": "greet", "type": "event", "definition": "hello", '
            '"event_name": "member.joined", "payload": {"name": "{{event.name}}"}}'),
    Example("Emit an event", "POST", "/events",
            '{"name": "member.joined", "data": {"name": "Grace"}}'),
    Example("Change how a definition runs", "PATCH", "/definitions/hello",
            '{"max_attempts": 5, "rate_limit": "100/min"}'),
    Example("Pause a queue", "POST", "/queues/default/pause", '{"reason": "the relay is down"}'),
    Example("Resume it, with an idempotency key", "POST", "/queues/default/resume",
            key="resume-4711"),
    Example("Count jobs", "GET", "/jobs/summary"),
    Example("List failures by cause", "GET", "/dead/groups"),
    Example("Unmute a cause", "POST", "/dead/groups/unmute",
            '{"definition": "hello", "fingerprint": "9f86d081884c7d65"}'),
    Example("Include muted causes", "GET", "/dead/groups?muted=true"),
    Example("Get counts for a chart", "GET", "/stats?window=24h&definition=hello"),
    Example("Compare tenants", "GET", "/stats/tenants?window=1h"),
    Example("Search logs", "GET", "/logs?words=not+found&level=error&since=-2h"),
    Example("Preview a bulk change", "POST", "/operations/preview",
            '{"action": "cancel", "q": "state:queued definition:hello"}'),
    Example("Begin it", "POST", "/operations",
            '{"action": "cancel", "q": "state:queued definition:hello", "reason": "not needed"}',
            keeps="OPERATION=.id"),
    Example("See its progress", "GET", "/operations/$OPERATION"),
    Example("Stop it", "POST", "/operations/$OPERATION/stop"),
    Example("List the jobs it could not change", "GET", "/operations/$OPERATION/items?state=failed"),
    Example("Move waiting jobs to another queue", "POST", "/operations",
            '{"action": "update", "q": "state:pending,queued queue:mail", '
            '"changes": {"queue": "bulk"}}'),
    Example("Who am I?", "GET", "/whoami"),
    Example("Invite a member", "POST", "/members",
            '{"name": "grace@example.com", "role": "user"}', keeps="MEMBER=.member.name"),
    Example("Offer them another role", "PATCH", "/members/$MEMBER", '{"role": "tenant_admin"}'),
    Example("Invite a superadmin", "POST", "/users/invite",
            '{"name": "barbara@example.com"}'),
    Example("Create a user", "POST", "/users", '{"name": "edsger@example.com"}', keeps="USER=.id"),
    Example("Create a link to set their password", "POST", "/users/$USER/link",
            '{"purpose": "password"}'),
    Example("Disable them", "PATCH", "/users/$USER", '{"disabled": true}'),
)  # fmt: skip


#: Rules for all routes, one paragraph each.
INTRODUCTION: Sequence[str] = (
    "Everything is under `/api/v1` and speaks JSON; `/api/v1/openapi.json` has every field. "
    "Lists continue by `cursor`. An error is `application/problem+json` with a [code](errors.md), "
    "a hint, and a request id. 429 and 503 say in `Retry-After` when to retry.",
    "Bodies are UTF-8 JSON with each key of an object once, numbers within the range of a "
    "double, text without NUL, and at most 64 levels in a payload. Instants have an offset "
    "and lie between 1970 and 2999; responses have them in UTC, always with six digits of a "
    "second. Everything else is refused with 422. Only reports of HTTP workers may contain any "
    "text: U+FFFD replaces characters that databases cannot store.",
    "Each entry of an error's `errors` has a `pointer` to the input: the JSON pointer of "
    "a field of the body (`/due_at`, `/payload/name`), `?name` of the query, `{name}` of the "
    "path. Unknown fields and query parameters are refused, not ignored.",
    "Writes accept the header `Idempotency-Key`. If the same caller repeats a request within 24 "
    "hours with the same key, method and path, it is not executed again: the first response is "
    "returned (`Idempotency-Replayed: true`). With another body it is refused (`WL2105`); while "
    "the first request is in progress, the caller is asked to wait (`WL2106`). Problems and "
    "rejected jobs are not kept, and a dry run takes no key. If a server dies in between, the key "
    "is free again after two minutes, and a repeated request is executed.",
    "The key of an enqueue also becomes the `idempotency_key` of its job, unless the body has one. "
    "It creates no second job in its tenant for as long as that job is kept: a later request, also "
    "from another caller, gets the receipt `existing`, or is refused as above if definition or "
    "payload differ.",
    "Routes whose response has a secret (new tokens, links, invitations) refuse the header, "
    "because such a response is never stored. Routes for workers and for signing in ignore it.",
)


def curl(example: Example) -> str:
    """An example as a curl command; `$API` is the address up to `/api/v1`."""
    words = ["curl -sS", *([f"-X {example.method}"] if example.method != "GET" else [])]
    words.append(f'"$API{example.path}"')
    if example.key:
        words.append(f"-H 'Idempotency-Key: {example.key}'")
    if example.body:
        words.append(f"--json '{example.body}'")
    line = " ".join(words)
    if not example.keeps:
        return line
    name, _, field = example.keeps.partition("=")
    return f"{name}=$({line} | jq -r {field})"


def markdown(app: FastAPI) -> str:
    """Text of docs/reference/api.md."""
    return "\n".join(_lines(app))


def _lines(app: FastAPI) -> Iterator[str]:
    document = app.openapi()
    yield "# HTTP API"
    yield ""
    for paragraph in INTRODUCTION:
        yield from textwrap.wrap(paragraph, 100, break_long_words=False, break_on_hyphens=False)
        yield ""
    yield "## By example"
    yield ""
    yield "`API=http://127.0.0.1:8787/api/v1` once `windlass serve` runs; with authentication add"
    yield '`-H "Authorization: Bearer $TOKEN"`.'
    for example in EXAMPLES:
        yield ""
        yield f"{example.title}:"
        yield ""
        yield "```sh"
        yield curl(example)
        yield "```"
    for tag, routes in _by_tag(document).items():
        yield ""
        yield f"## {tag.capitalize()}"
        yield ""
        yield "| | | needs |"
        yield "|---|---|---|"
        for method, path, route in routes:
            words = route.get("description", "").split("\n\n")[0].replace("\n", " ")
            end = "" if route["summary"].endswith("?") else "."
            text = f"{route['summary']}{end} {words}".strip()
            right = route.get("x-right")
            yield f"| `{method} {path}` | {text} | {f'`{right}`' if right else 'nothing'} |"
    yield ""


def _by_tag(document: Mapping[str, Any]) -> dict[str, list[tuple[str, str, Mapping[str, Any]]]]:
    by_tag: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            by_tag.setdefault(route["tags"][0], []).append((method.upper(), path, route))
    return by_tag
