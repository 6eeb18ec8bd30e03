"""Writes the pages of docs/reference from the code: `python docs/generate.py`.

A test compares the pages with what this would write.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path

from windlass import Settings, Windlass, errors
from windlass.api.app import create_api
from windlass.api.reference import markdown
from windlass.core.states import ENDED, MOVES, JobState, Outcome, View
from windlass.errors import WindlassError
from windlass.settings import template

HERE = Path(__file__).parent / "reference"
_MADE = "<!-- Written by docs/generate.py; edit the code instead. -->\n"


def pages() -> dict[Path, str]:
    """Each page and its text."""
    return {
        HERE / "states.md": _states(),
        HERE / "errors.md": _errors(),
        HERE / "settings.md": _settings(),
        HERE / "api.md": _api(),
    }


def _api() -> str:
    return markdown(create_api(Windlass("sqlite:///:memory:", settings=Settings()))).replace(
        "# HTTP API\n", f"# HTTP API\n{_MADE}", 1
    )


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
        f"## {kind.code} {kind.__name__}\n\n{inspect.getdoc(kind)}"
        for kind in _coded(WindlassError)
    )
    return f"""# Errors
{_MADE}
Every error says what happened, why, and what to do, and has a code that never changes its meaning.

{rows}
"""


def _coded(kind: type[WindlassError]) -> list[type[WindlassError]]:
    def below(kind: type[WindlassError]) -> Iterator[type[WindlassError]]:
        for child in kind.__subclasses__():
            yield child
            yield from below(child)

    public = {getattr(errors, name) for name in errors.__all__}
    return sorted(set(below(kind)) & public, key=lambda error: error.code)


def _settings() -> str:
    return f"""# Settings
{_MADE}
Flags win over `WINDLASS_*` variables, these over `windlass.toml` (or `[tool.windlass]` in `pyproject.toml`),
that over the default. `worker.lease_seconds` is `WINDLASS_WORKER_LEASE_SECONDS`. A file with every default:

```toml
{template().rstrip()}
```
"""


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, "utf-8")
