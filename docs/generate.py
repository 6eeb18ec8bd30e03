"""Writes the pages of docs/reference from the code: `python docs/generate.py`.

A test compares the pages with what this would write.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path

from windlass import errors
from windlass.core.access import ROLES, Reach, Right, Role, is_audited
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
        HERE / "rights.md": _rights(),
    }


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


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, "utf-8")
