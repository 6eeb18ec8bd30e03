"""`/`: the dashboard, or without one the status page: rendered by the server without script,
refreshes itself."""

import html
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from windlass.api.access.callers import Caller, rate_limited_caller, ready_engine
from windlass.api.http_routes import SafeRoute
from windlass.api.middleware.browser_security import page_headers
from windlass.api.pages.dashboard import page_of
from windlass.api.routing import NO_RIGHT, OWN, RIGHT
from windlass.api.schema import render
from windlass.core.access.roles import Right
from windlass.core.durations import words
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.state_icons import STATE_ICONS
from windlass.engine.engine import Engine
from windlass.engine.leases.workers import liveness
from windlass.errors import Forbidden, NotAuthenticated
from windlass.errors.wording import counted, shorten
from windlass.ids import short

router = APIRouter(route_class=SafeRoute, include_in_schema=False)

_SECONDS = 5
_JOBS, _CAUSES, _RUNS = 25, 5, 5
#: A longer wait of the oldest job is reported as a problem.
_LONG = timedelta(minutes=1)
#: States counted at the top; completed jobs are not counted anywhere.
_CARDS = ("queued", "running", "retrying", "scheduled", "waiting", "dead_letter")
_NO_DASHBOARD = (
    "This is Windlass without its dashboard: install a released package, or run <code>make ui</code> "
    "in a checkout."
)
_FIRST = "Enqueue one: <code>windlass enqueue hello name=Ada</code>."


def _colours(theme: Literal["light", "dark"]) -> str:
    return ";".join(f"--{name}:{getattr(icon, theme)}" for name, icon in STATE_ICONS.items())


_STYLE = (
    f"""
:root{{color-scheme:light dark;--muted:#57606b;--line:#d5d9df;{_colours("light")}}}
@media(prefers-color-scheme:dark){{:root{{--muted:#9aa4b0;--line:#2b323b;{_colours("dark")}}}}}
"""
    + """
body{font:14px/20px system-ui;font-variant-numeric:tabular-nums;max-width:72rem;margin:0 auto;
padding:1rem}h1{font-size:20px}h2{font-size:16px;margin-top:2rem}.muted,th{color:var(--muted)}
ul{display:flex;flex-wrap:wrap;gap:1rem 2rem;padding:0;list-style:none}ul b{display:block;font-size:20px;
line-height:28px}table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:6px 12px 6px 0;
border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}th{font-weight:normal}
.wide{overflow-x:auto}.glyph{display:inline-block;min-width:1.2em}
"""
    + "".join(f".{name} .glyph{{color:var(--{name})}}" for name in STATE_ICONS)
)
_HEADERS = page_headers(_STYLE)


@router.get("/", openapi_extra={RIGHT: Right.JOBS_READ, OWN: True})
async def overview(request: Request) -> Response:
    """The dashboard. Without one, the status page of the tenant in the query; it redirects to
    sign-in without a session."""
    if (dashboard := await page_of(request)) is not None:
        return dashboard
    root = request.scope.get("root_path", "")
    if (link := request.query_params.get("key")) is not None:
        return RedirectResponse(f"{root}/login?{urlencode({'link': link})}", 303)
    try:
        caller = await rate_limited_caller(request, request.query_params.get("tenant"))
    except NotAuthenticated:
        return RedirectResponse(f"{root}/login", 303)
    if not caller.may(Right.JOBS_READ):
        raise Forbidden(Right.JOBS_READ)
    engine = await ready_engine(request)
    content = "".join([part async for part in _parts(engine, caller, await engine.now())])
    links = f'<a href="{root}/docs">API reference</a>'
    return HTMLResponse(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Windlass</title>"
        "<meta name=viewport content='width=device-width'><meta name=robots content=noindex>"
        f"<meta http-equiv=refresh content={_SECONDS}><style>{_STYLE}</style>"
        f"<body><header><h1>Windlass</h1></header><main>{content}</main><footer><p class=muted>"
        f"Refreshed every {_SECONDS} s · {links} · {_NO_DASHBOARD}</footer></html>",
        headers=_HEADERS,
    )


@router.get("/setup", openapi_extra={RIGHT: NO_RIGHT})
async def set_up(request: Request, key: str = "") -> Response:
    """The dashboard's form for the first administrator. Without a dashboard, the form for a
    password."""
    if (dashboard := await page_of(request)) is not None:
        return dashboard
    root = request.scope.get("root_path", "")
    return RedirectResponse(f"{root}/password?{urlencode({'link': key})}", 303)


async def _parts(engine: Engine, caller: Caller, now: datetime) -> AsyncIterator[str]:
    if caller.owner is None:
        yield await _verdict_and_counts(engine, caller)
    if caller.may(Right.QUEUES_READ):
        yield await _queues(engine, caller)
    if caller.owner is None:
        yield await _causes(engine, caller, now)
    yield await _jobs(engine, caller, now)
    if caller.may(Right.TRIGGERS_READ):
        yield await _runs(engine, caller, now)


async def _verdict_and_counts(engine: Engine, caller: Caller) -> str:
    """A health verdict, and the number of jobs by state."""
    summary = await engine.summaries.summary(caller.scope)
    workers = [
        worker
        for worker in await engine.workers.list()
        if liveness(worker) == "live" and worker.claims
    ]
    late = summary.oldest_age is not None and summary.oldest_age > _LONG
    if late and not workers:
        verdict = "Jobs are waiting and no worker is running: start one with windlass worker."
    elif late and summary.oldest_age is not None:
        verdict = f"The oldest queued job has waited {words(summary.oldest_age)}."
    else:
        verdict = "Healthy: no queued job has waited long."
    counts = {str(state): f"{number:,}" for state, number in summary.states.items()}
    counts |= {view: str(count) for view, count in summary.views.items()}
    cards = "".join(f"<li class={name}><b>{counts[name]}</b>{_sign(name)}" for name in _CARDS)
    return f"<p><strong>{verdict}</strong> {counted(len(workers), 'worker')} live.<ul>{cards}</ul>"


async def _queues(engine: Engine, caller: Caller) -> str:
    queues = await engine.queues.list(caller.scope)
    rows = (
        [
            _text(queue.name),
            f"{queue.queued:,}",
            f"{queue.running:,}",
            _text(f"paused: {queue.pause_reason or 'no reason given'}" if queue.paused_at else ""),
        ]
        for queue in queues
    )
    return _table("Queues", ("queue", "queued", "running", ""), rows)


async def _jobs(engine: Engine, caller: Caller, now: datetime) -> str:
    query = JobQuery.of(created_by=caller.owner)
    page = await engine.lists.page(query, scope=caller.scope, limit=_JOBS)
    rows = (
        [
            f'<span title="{job.id}">{short(job.id)}</span>',
            f"<span class={entry['view']}>{_sign(entry['view'])}</span>",
            _text(job.definition),
            _text(job.tenant),
            _text(job.queue),
            f"{job.attempts}/{job.max_attempts}",
            _ago(job.created_at, now),
            _text(shorten(entry["last_error"] or "")),
        ]
        for job, entry in zip(page.jobs, await render.jobs(engine, page), strict=True)
    )
    titles = ("job", "state", "definition", "tenant", "queue", "attempts", "made", "error")
    return _table("Newest jobs", titles, rows) or f"<h2>No jobs yet</h2><p>{_FIRST}"


async def _causes(engine: Engine, caller: Caller, now: datetime) -> str:
    groups = await engine.dead.groups(limit=_CAUSES, scope=caller.scope)
    rows = (
        [f"{each.count:,}", _text(each.definition), _text(each.sentence), _ago(each.last_at, now)]
        for each in groups
    )
    return _table("Failed for good, by cause", ("jobs", "definition", "cause", "last"), rows)


async def _runs(engine: Engine, caller: Caller, now: datetime) -> str:
    schedules = [
        (each.next_run_at, each)
        for each in await engine.triggers.list("time", caller.scope)
        if each.enabled and each.next_run_at is not None
    ]
    rows = (
        [_text(each.name), _text(each.definition), f"{at:%Y-%m-%d %H:%M:%S} UTC", _ago(at, now)]
        for at, each in sorted(schedules, key=lambda pair: pair[0])[:_RUNS]
    )
    return _table("Next runs", ("schedule", "definition", "at", ""), rows)


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table, empty text without rows; its cells are already HTML."""
    body = "".join(f"<tr>{''.join(f'<td>{cell}' for cell in row)}" for row in rows)
    head = "".join(f"<th scope=col>{head}" for head in heads)
    return body and f"<h2>{title}</h2><div class=wide><table><tr>{head}{body}</table></div>"


def _sign(name: str) -> str:
    sign = STATE_ICONS[name]
    return f"<span class=glyph aria-hidden=true>{sign.glyph}</span> {sign.label}"


def _ago(at: datetime, now: datetime) -> str:
    text = f"in {words(at - now)}" if at > now else f"{words(now - at)} ago"
    return f'<time datetime="{at.isoformat()}">{text}</time>'


def _text(value: str) -> str:
    return html.escape(value)
