"""The API's reference in words, as Markdown: of its own OpenAPI document, with examples."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fastapi import FastAPI


class Example(NamedTuple):
    """A request that anybody can type. `keeps` names what of the answer later ones use, `key`
    is its idempotency key."""

    title: str
    method: str
    path: str
    body: str = ""
    keeps: str = ""
    key: str = ""


#: From a job to a schedule, in this order: each may use what an earlier one has kept.
EXAMPLES: Sequence[Example] = (
    Example("Enqueue a job", "POST", "/jobs",
            '{"definition": "hello", "payload": {"name": "Ada"}}', keeps="JOB=.job.id"),
    Example("Enqueue many in one transaction", "POST", "/jobs/batch",
            '{"jobs": [{"definition": "hello", "payload": {"name": "Ada"}}, '
            '{"definition": "hello", "payload": {"name": "Grace"}, "priority": "high"}]}'),
    Example("Watch it", "GET", "/jobs/$JOB"),
    Example("Wait until it has ended, for two seconds at most", "GET", "/jobs/$JOB/wait?timeout=2"),
    Example("Why is it not running?", "GET", "/jobs/$JOB/explain"),
    Example("Find jobs", "GET", "/jobs?state=queued,retrying&definition=hello&limit=10"),
    Example("Change it while it waits", "PATCH", "/jobs/$JOB",
            '{"priority": "high", "queue": "mail", "delay_seconds": 60}'),
    Example("Cancel it", "POST", "/jobs/$JOB/cancel", '{"reason": "not needed"}'),
    Example("Retry it", "POST", "/jobs/$JOB/retry"),
    Example("Make another like it", "POST", "/jobs/$JOB/clone"),
    Example("See what happened to it", "GET", "/jobs/$JOB/history"),
    Example("Check a schedule, and keep nothing", "POST", "/schedules?dry_run=true",
            '{"name": "hourly", "type": "interval", "definition": "hello", '
            '"interval_seconds": 3600, "payload": {"name": "Ada"}}'),
    Example("Make a schedule", "POST", "/schedules",
            '{"name": "nightly", "type": "cron", "definition": "hello", "cron": "0 2 * * 1-5", '
            '"timezone": "Europe/Berlin", "payload": {"name": "Ada"}}', keeps="SCHEDULE=.id"),
    Example("Run it now", "POST", "/schedules/$SCHEDULE/run"),
    Example("Disable it", "POST", "/schedules/$SCHEDULE/disable"),
    Example("Have an event make jobs", "POST", "/triggers",
            '{"name": "greet", "type": "event", "definition": "hello", '
            '"event_name": "member.joined", "payload": {"name": "{{event.name}}"}}'),
    Example("Emit an event", "POST", "/events",
            '{"name": "member.joined", "data": {"name": "Grace"}}'),
    Example("Change how a definition runs", "PATCH", "/definitions/hello",
            '{"max_attempts": 5, "rate_limit": "100/min"}'),
    Example("Pause a queue", "POST", "/queues/default/pause", '{"reason": "the relay is down"}'),
    Example("Resume it, once however often it is asked", "POST", "/queues/default/resume",
            key="resume-4711"),
    Example("Count jobs", "GET", "/jobs/summary"),
    Example("See what failed, by cause", "GET", "/dead/groups"),
    Example("Take back that a cause is muted", "POST", "/dead/groups/unmute",
            '{"definition": "hello", "fingerprint": "9f86d081884c7d65"}'),
    Example("See muted causes too", "GET", "/dead/groups?muted=true"),
    Example("Chart what happened", "GET", "/stats?window=24h&definition=hello"),
    Example("Compare tenants", "GET", "/stats/tenants?window=1h"),
    Example("Search logs", "GET", "/logs?words=not+found&level=error&since=-2h"),
    Example("See what a bulk change would do", "POST", "/operations/preview",
            '{"action": "cancel", "q": "state:queued definition:hello"}'),
    Example("Begin it", "POST", "/operations",
            '{"action": "cancel", "q": "state:queued definition:hello", "reason": "not needed"}',
            keeps="OPERATION=.id"),
    Example("See how far it is", "GET", "/operations/$OPERATION"),
    Example("Stop it", "POST", "/operations/$OPERATION/stop"),
    Example("See which jobs it could not change", "GET", "/operations/$OPERATION/items?state=failed"),
    Example("Move what waits in a queue to another one", "POST", "/operations",
            '{"action": "update", "q": "state:pending,queued queue:mail", '
            '"changes": {"queue": "bulk"}}'),
    Example("Who am I?", "GET", "/whoami"),
    Example("Invite somebody", "POST", "/members",
            '{"name": "grace@example.com", "role": "user"}', keeps="MEMBER=.member.name"),
    Example("Offer them another role", "PATCH", "/members/$MEMBER", '{"role": "tenant_admin"}'),
    Example("Offer somebody to administer everything", "POST", "/users/invite",
            '{"name": "barbara@example.com"}'),
    Example("Make a user", "POST", "/users", '{"name": "edsger@example.com"}', keeps="USER=.id"),
    Example("Make them a link to set a password", "POST", "/users/$USER/link",
            '{"purpose": "password"}'),
    Example("Disable them", "PATCH", "/users/$USER", '{"disabled": true}'),
)  # fmt: skip


#: What holds for all routes, a paragraph each.
INTRODUCTION: Sequence[str] = (
    "Everything is under `/api/v1` and speaks JSON; `/api/v1/openapi.json` has every field. "
    "Lists go on by `cursor`. An error is `application/problem+json` with a code of "
    "[these](errors.md), what to do, and a request id. 429 and 503 tell by `Retry-After` when "
    "to ask again.",
    "Bodies are UTF-8 JSON with each key of an object once, numbers within the range of a "
    "double, text without NUL, and at most 64 levels in a payload. Instants have an offset "
    "and lie between 1970 and 2999; answers have them in UTC, always with six digits of a second. All else is refused with 422. Only reports of HTTP "
    "workers may hold any text: U+FFFD is stored in place of what no database keeps.",
    "Each entry of an error's `errors` has a `pointer` to what was sent: the JSON pointer of "
    "a field of the body (`/due_at`, `/payload/name`), `?name` of the query, `{name}` of the "
    "path. A field or query parameter that a route does not take is refused, not ignored.",
    "A write takes the header `Idempotency-Key`. Repeated within 24 hours by the same caller "
    "with the same key, method and path, it is answered as before (`Idempotency-Replayed: "
    "true`) and not done again; with another body it is refused (`WL2105`), and while the "
    "first is under way told to wait (`WL2106`). Problems and rejected jobs are not kept, and "
    "a dry run takes no key. If a server dies in between, the key is free again after two "
    "minutes, and the request is done again.",
    "The key of an enqueue is the `idempotency_key` of its job, too, unless the body has one. "
    "So it makes no second job in its tenant for as long as that job is kept: later, or from "
    "another caller, it is answered with the receipt `existing`, or refused as above if "
    "definition or payload are others.",
    "Routes whose answer has a secret (new tokens, links, invitations) refuse the header: "
    "such an answer is kept nowhere. Routes for workers and for signing in do not look at it.",
)


def curl(example: Example) -> str:
    """An example as a line for a shell; `$API` is the address up to `/api/v1`."""
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
    """The page of docs/reference."""
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
            said = f"{route['summary']}{end} {words}".strip()
            right = route.get("x-right")
            yield f"| `{method} {path}` | {said} | {f'`{right}`' if right else 'nothing'} |"
    yield ""


def _by_tag(document: Mapping[str, Any]) -> dict[str, list[tuple[str, str, Mapping[str, Any]]]]:
    found: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            found.setdefault(route["tags"][0], []).append((method.upper(), path, route))
    return found
