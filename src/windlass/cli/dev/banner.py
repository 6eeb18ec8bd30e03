"""Greeting of `windlass dev`: addresses, the jobs found, and a command to try."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from windlass.app.windlass import Windlass
from windlass.errors.wording import counted
from windlass.settings import Settings
from windlass.settings.kinds import masked_url
from windlass.worker.handlers import Handler

_SHOWN = 8
_SAMPLES: Mapping[str, Any] = {
    "integer": 3,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}


def banner(
    apps: Sequence[Windlass],
    modules: Sequence[str],
    style: Callable[..., str],
    url: str,
    *,
    sign_in: str = "",
    keys: str = "",
    reloads: bool = False,
) -> Iterator[str]:
    """The lines of the greeting. `sign_in` is the sign-in link, if one is needed; `keys` describes
    the keys, if there is a terminal."""
    handlers = [handler for app in apps for handler in app.handlers.values()]
    names = [handler.definition.key for handler in handlers]
    shown = " · ".join(names[:_SHOWN]) + (" · …" if len(names) > _SHOWN else "")
    head = style(f"Windlass {version('windlass')}", bold=True)
    yield ""
    yield f"  {head}   development mode — for production use: windlass serve, worker"
    yield f"  {style('Dashboard', dim=True)}  {sign_in or f'{url}/'}"
    yield f"  {style('API', dim=True)}        {url}/api/v1   reference {url}/docs"
    for url in dict.fromkeys(app.url for app in apps):
        yield f"  {style('Database', dim=True)}   {masked_url(url)}"
    found = f"{counted(len(names), 'job')} found in {', '.join(modules)}"
    yield f"  {style('Jobs', dim=True)}       {found.replace(' jobs found', ' found')}: {shown}"
    if handlers:
        yield f"  {style('Try', dim=True)}        {style(example(apps[0], handlers[0]), bold=True)}"
    if keys:
        yield f"  {style('Keys', dim=True)}       {keys}"
    if reloads:
        yield f"  {style('Reload', dim=True)}     save a file"
    yield ""


def example(app: Windlass, handler: Handler) -> str:
    """An example command that enqueues a job from another terminal."""
    where = []
    # Only the path of a file is shown: a server's URL may hold a password, and is in the
    # environment anyway.
    if app.url.startswith("sqlite:") and app.url != Settings.load(environ={}).database.url:
        where = ["--db", app.url]
    return " ".join([_me(), "enqueue", words(handler), *where])


def words(handler: Handler) -> str:
    """The arguments of an example `windlass enqueue`, with a value for each required field."""
    schema = handler.payload.schema
    pairs = [
        shlex.quote(f"{name}={_sample(name, schema.get('properties', {}).get(name, {}))}")
        for name in schema.get("required", ())
    ]
    return " ".join([handler.definition.key, *pairs])


def _sample(name: str, schema: Mapping[str, Any]) -> str:
    if "default" in schema:
        value = schema["default"]
    elif "enum" in schema:
        value = schema["enum"][0]
    elif isinstance(schema.get("type"), str) and schema["type"] in _SAMPLES:
        value = _SAMPLES[schema["type"]]
    else:
        return "Ada" if "name" in name else "hello"
    return value if isinstance(value, str) else json.dumps(value)


def _me() -> str:
    if shutil.which("windlass"):
        return "windlass"
    script = os.path.relpath(sys.argv[0])
    return "python -m windlass.cli" if script.endswith("__main__.py") else script
