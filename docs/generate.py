"""Generates docs/reference, the page of metrics, the map of folders, and what the user interface
knows of the server (ui/openapi.json, ui/src/generated/): `python docs/generate.py`.

A test compares the pages with what this would write.
"""

import ast
import inspect
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import click
from fastapi import FastAPI

from windlass import Settings, Windlass, errors
from windlass.api.app import create_api
from windlass.api.middleware.problems import status_of
from windlass.api.schema.reference import markdown
from windlass.cli.framework.commands import MORE_FLAGS
from windlass.cli.framework.exit_codes import MEANINGS, code_of
from windlass.cli.framework.flags import Flags
from windlass.cli.main import root
from windlass.core.access.roles import ROLES, Reach, Right, Role, is_audited
from windlass.core.jobs import filter as grammar
from windlass.core.jobs.filter_fields import FIELDS, TAKES
from windlass.core.jobs.operations import RIGHTS, STATES
from windlass.core.jobs.state_icons import STATE_ICONS
from windlass.core.jobs.states import ENDED, MOVES, JobState, Outcome, View
from windlass.engine.monitoring.metrics import FRESH_SECONDS, METRICS, MOST_NAMES, OTHER
from windlass.errors import WindlassError
from windlass.errors.remedies import remedies
from windlass.settings import template
from windlass.worker.health_probe import PROCESS_METRICS

HERE = Path(__file__).parent / "reference"
_HOW_IT_WORKS = HERE.parent / "explain" / "how-it-works.md"
_MAP_BEGINS, _MAP_ENDS = "<!-- map: written by docs/generate.py -->", "<!-- /map -->"
_WALK_BEGINS, _WALK_ENDS = "<!-- walk: enqueue, claim and finish -->", "<!-- /walk -->"
_WALK_TEST = HERE.parents[1] / "tests" / "journeys" / "test_walk.py"
_WALK_LENGTH = re.compile(r"^MOST_FILES_OF_A_JOB = (\d+)$", re.MULTILINE)
_UI = HERE.parents[1] / "ui"
_SOURCE = HERE.parents[1] / "src" / "windlass"
#: The same in every layer; see decision 0029.
AREAS = ("jobs", "leases", "definitions", "triggers", "access", "monitoring")
_MADE = "<!-- Written by docs/generate.py; edit the code instead. -->\n"


def pages() -> dict[Path, str]:
    """Each page and its text."""
    return {
        HERE / "states.md": _states(),
        HERE / "errors.md": _errors(),
        HERE / "commands.md": _commands(),
        HERE / "settings.md": _settings(),
        HERE / "api.md": _api(),
        HERE.parent / "operate" / "metrics.md": _metrics(),
        HERE / "rights.md": _rights(),
        HERE / "filter.md": _filter(),
        _UI / "openapi.json": _json(_openapi()),
        _UI / "src" / "generated" / "states.json": _json(
            {name: icon._asdict() for name, icon in STATE_ICONS.items()}
        ),
        _UI / "src" / "generated" / "job_actions.json": _json(
            {
                action: {"right": RIGHTS[action], "states": sorted(STATES[action])}
                for action in RIGHTS
            }
        ),
        _UI / "src" / "generated" / "filter_fields.json": _json(
            [
                {**asdict(field), "operators": field.operators, "takes": field.takes}
                for field in FIELDS.values()
            ]
        ),
        _HOW_IT_WORKS: _with_map(_HOW_IT_WORKS.read_text("utf-8")),
    }


def _with_map(text: str) -> str:
    """The page with the map of folders, and the length of the walk, renewed between their marks."""
    length = _WALK_LENGTH.search(_WALK_TEST.read_text("utf-8"))
    assert length is not None
    text = _between(text, _WALK_BEGINS, f"{length[1]} Python files", _WALK_ENDS)
    return _between(text, _MAP_BEGINS, f"\n{_map()}", _MAP_ENDS)


def _between(text: str, begins: str, new: str, ends: str) -> str:
    before, _, rest = text.partition(begins)
    _, _, after = rest.partition(ends)
    return f"{before}{begins}{new}{ends}{after}"


def _map() -> str:
    rows = [
        f"| `{layer.name}` | {_about(layer)} | {_folders(layer, areas=True)}"
        f" | {_folders(layer, areas=False)} |\n"
        for layer in _packages(_SOURCE)
    ]
    head = "| layer | holds | areas | other folders |\n|---|---|---|---|\n"
    return head + "".join(rows)


def _packages(folder: Path) -> list[Path]:
    return sorted(each.parent for each in folder.glob("*/__init__.py"))


def _about(package: Path) -> str:
    tree = ast.parse((package / "__init__.py").read_text("utf-8"))
    return (ast.get_docstring(tree) or "").partition("\n")[0]


def _folders(layer: Path, *, areas: bool) -> str:
    """The sub-folders of a layer that are areas, or those that are none."""
    names = [each.name for each in _packages(layer)]
    return ", ".join(f"`{name}`" for name in names if (name in AREAS) == areas)


def _api() -> str:
    return markdown(_documented_api()).replace("# HTTP API\n", f"# HTTP API\n{_MADE}", 1)


def _openapi() -> dict[str, Any]:
    return _documented_api().openapi()


@cache
def _documented_api() -> FastAPI:
    return create_api(Windlass("sqlite:///:memory:", settings=Settings()))


def _json(value: object) -> str:
    """JSON in a stable order: that of the routes and fields, as the code has them."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _states() -> str:
    arrows = sorted(
        (str(before), str(after), str(verb).replace("_", " "))
        for (verb, before), afters in MOVES.items()
        for after in afters
        if before != after
    )
    drawn = "\n".join(f"    {before} --> {after}: {verb}" for before, after, verb in arrows)
    ends = "\n".join(f"    {state} --> [*]" for state in sorted(ENDED))
    rows = "\n".join(
        f"| {str(verb).replace('_', ' ')} | {before} | {', '.join(sorted(afters))} |"
        for (verb, before), afters in MOVES.items()
    )
    return f"""# States
{_MADE}
Stored states: {_listed(JobState)}. Views, usable as filters: {_listed(View)}.
Attempt outcomes: {_listed(Outcome)}.

```mermaid
stateDiagram-v2
    [*] --> queued: enqueue
    [*] --> pending: enqueue
{drawn}
{ends}
```

| verb | finds | leads to |
|---|---|---|
{rows}

A pair that is not listed changes nothing.
"""


def _listed(kind: type[JobState] | type[View] | type[Outcome]) -> str:
    return ", ".join(f"`{member}`" for member in kind)


def _errors() -> str:
    rows = "\n\n".join(
        f"## {kind.code} {kind.__name__}\n\n{inspect.getdoc(kind)}\n\n"
        f"Causes:\n\n{_bullets(remedies()[kind.code].causes)}\n\n"
        f"What to do:\n\n{_bullets(remedies()[kind.code].cures)}\n\n"
        f"Exit code {code_of(kind):d}, HTTP status {status_of(kind):d}."
        for kind in _coded(WindlassError)
    )
    return f"""# Errors
{_MADE}
Every error says what happened, why, and what to do, and has a code that never changes its meaning;
`windlass explain CODE` shows the same without a network. [Exit codes](commands.md#exit-codes) are of the
command line, statuses of the API.

{rows}
"""


def _bullets(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _coded(kind: type[WindlassError]) -> list[type[WindlassError]]:
    def below(kind: type[WindlassError]) -> Iterator[type[WindlassError]]:
        for child in kind.__subclasses__():
            yield child
            yield from below(child)

    public = {getattr(errors, name) for name in errors.__all__} - {errors.DatabaseOutage}
    return sorted(set(below(kind)) & public, key=lambda error: error.code)


def _commands() -> str:
    exits = "\n".join(f"| {exit:d} | {meaning} |" for exit, meaning in MEANINGS.items())
    helps = "\n\n".join(
        f"## {path}\n\n```\n{_help(path, command)}\n```"
        for path, command in _tree("windlass", root)
    )
    return f"""# Commands
{_MADE}
What every `--help` says. Data goes to stdout; messages, progress, questions and errors go to stderr.

## Exit codes

| code | meaning |
|---|---|
{exits}

{helps}
"""


def _tree(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        ctx = click.Context(command, obj=Flags())
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            assert below is not None
            yield from _tree(f"{path} {name}", below)


def _help(path: str, command: click.Command) -> str:
    ctx = click.Context(command, info_name=path, obj=Flags(), terminal_width=100)
    text = command.get_help(ctx).removesuffix(MORE_FLAGS).rstrip()
    return "\n".join(line.rstrip() for line in text.splitlines())


def _settings() -> str:
    return f"""# Settings
{_MADE}
Flags win over `WINDLASS_*` variables, these over `windlass.toml` (or `[tool.windlass]` in `pyproject.toml`),
that over the default. `worker.lease_seconds` is `WINDLASS_WORKER_LEASE_SECONDS`. A file with every default:

```toml
{template().rstrip()}
```
"""


def _metrics() -> str:
    rows = "\n".join(
        f"| `{metric.name}{'_total' if metric.type == 'counter' else ''}` | {metric.type} "
        f"| {', '.join(metric.labels)} | {metric.tells} |"
        for metric in METRICS
    )
    own = "\n".join(f"| `{name}` | {tells} |" for name, tells in PROCESS_METRICS.items())
    return f"""# Metrics, probes, traces and logs
{_MADE}
## The installation

`GET /metrics` of `windlass serve` tells of all tenants, for Prometheus; it needs the right `metrics.read`.
Nothing is scanned: a scrape makes a few bounded looks at counts that are kept anyway, at most every
{FRESH_SECONDS:.0f} seconds. Scrape one server: each tells the same.

| metric | type | labels | tells |
|---|---|---|---|
{rows}

{MOST_NAMES} tenants, queues and definitions are named, the busiest; the others are summed as `{OTHER}`. Counters
never fall, whatever is pruned. Latencies are noted by workers in memory and stored with their heartbeat (a
third of a lease), so a killed worker's last seconds are missing; of a batch of more than 64, some stand for all.

[grafana.json](grafana.json) is a dashboard to import; [alerts.yml](alerts.yml) has rules for Prometheus.

## A worker

With `worker.health_port` set, a worker answers on `worker.health_host` (127.0.0.1; set 0.0.0.0 where probes come
from outside): `/healthz` while it lives (503 once only a new process helps), `/readyz` while it looks for work, its event loop
moves and its database answers (503 and why otherwise, also while it drains), and `/metrics` with the usual `process_*` and:

| metric | tells |
|---|---|
{own}

A server has `/healthz` and `/readyz` too: the second looks for its database and schema.

## Traces

With `pip install "windlass[otel]"` one trace goes from the code that enqueues to each attempt; the context travels
in the job's metadata as W3C `traceparent`. Your program sets up its own OpenTelemetry SDK and exporter; each
process that enqueues or works says once, where `wl` is made: `otel.install(wl)` of `windlass.integrations`.

## Logs

`windlass worker` and `windlass serve` write JSON lines to stderr (readable ones at a terminal). Each line about an
attempt, also what a handler logs, has `job_id`, `tenant_id`, `definition`, `attempt`, `worker_id` and, if the job has
one, `correlation_id`. Among the events:

| event | means |
|---|---|
| `dead-lettered` | a job failed for good |
| `lease ran out` | its worker was lost; `now` is where the job went |
| `lease lost, stopping its run` | this worker was too late to renew |
| `late report ignored` | a run ended after its lease was taken back; nothing of it was recorded |
| `a due time was skipped` | a schedule passed by a time: missed, or its last job has not ended |
| `a trigger was refused` | its job could not be made; `error` says why |
"""


def _rights() -> str:
    reaches = {Reach.OWN: "own", Reach.TENANT: "tenant", Reach.ALL: "all"}
    rows = "\n".join(
        f"| `{right}` | "
        + " | ".join(reaches[reach] if (reach := ROLES[role].get(right)) else "" for role in Role)
        + f" | {'yes' if is_audited(right) else ''} |"
        for right in Right
    )
    return f"""# Rights
{_MADE}
What each role may do, and how far that reaches: *own* what the principal made itself, *tenant* all of the
tenants it is bound to, *all* every tenant and what belongs to none. What is empty is refused. See
[who may do what](../explain/access.md).

| right | {" | ".join(f"`{role}`" for role in Role)} | audited |
|---|{"---|" * len(Role)}---|
{rows}
"""


def _filter() -> str:
    rows = "\n".join(
        f"| `{field.name}{'.…' if field.kind == 'json' else ''}` | {field.means} | {field.kind} "
        f"| `{field.example}` |"
        for field in FIELDS.values()
    )
    kinds = "\n".join(f"| {kind} | {takes} | {_operators(kind)} |" for kind, takes in TAKES.items())
    return f"""# Filters
{_MADE}
One grammar for the search box, the URL, `--where`, the API's `q` and `wl.jobs.list("…")`:

```
state:dead_letter,retrying definition:mail.* attempts:>3 created:>-2h error:"timed out" -queue:bulk
```

- Terms stand apart by spaces; all have to hold. A `-` before a term turns it round: it then holds for
  jobs without such a value too.
- Commas stand between values of which one has to fit: `state:queued,running`. `>` `>=` `<` `<=` take
  one value; two terms make a range: `created:>=2026-07-01 created:<2026-07-02`.
- A word without a field is looked for in the error: `timeout` is `error:timeout`.
- `*` at the end of a name stands for the rest of it, alone for any value: `-worker:*` are jobs that
  no worker had.
- Quotes keep spaces, commas and stars: `error:"timed out"`; in them `\\"` is a quote, `\\\\` a backslash.
- Times with a sign are told from now (`-2h`, `+30m`), others are UTC unless they name their zone.
- At most {grammar.MOST_CHARACTERS:,} characters, {grammar.MOST_TERMS} terms, {grammar.MOST_VALUES} values in a term.

| field | means | kind | example |
|---|---|---|---|
{rows}

The states are {_listed(JobState)}, the views of these {_listed(View)}; `queued` is the stored state, so
that it has what is scheduled or retrying too.

| kind | takes | operators |
|---|---|---|
{kinds}

## What is fast

No filter, states, definitions, tenants, a correlation id and the time of creation are answered from
indexes, however long the history is. All else, `payload`, `metadata` and `error` above all, is looked for among some
thousand of the newest candidates at a time: such a page may have few jobs or none and still a `next` to go
on from. Together with a definition, a tenant or a time it reaches further. Fields of a payload or of metadata
that are secret, by their name or by a mark in the schema, cannot be asked for. The other jobs of one schedule or
trigger are `trigger:<its id>`, those of one cause or request `correlation:<id>`.
"""


def _operators(kind: str) -> str:
    field = next(field for field in FIELDS.values() if field.kind == kind)
    signs = {"is": ":", ">": ":>", ">=": ":>=", "<": ":<", "<=": ":<="}
    return " ".join(f"`{signs[operator]}`" for operator in field.operators)


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
