"""Contexts: named servers and databases, in a file of the user's own. `windlass config use NAME` chooses one.

A context is a server or database with its tenant and token file. A command that names another
server or database by a flag or variable uses nothing of the context.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from windlass.errors import CommandInvalid
from windlass.errors.wording import nearest, quoted

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
_FIELDS = ("url", "db", "token_file", "tenant")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A server's `url` or a database's `db`, with a tenant and the path of a token file."""

    name: str
    url: str | None = None
    db: str | None = field(default=None, repr=False)
    token_file: str | None = None
    tenant: str | None = None


@dataclass(frozen=True, slots=True)
class Contexts:
    """All contexts, and the current one."""

    known: Mapping[str, Context] = field(default_factory=dict)
    current: str | None = None

    def named(self, name: str) -> Context:
        """Return the context with this name; raises CommandInvalid if there is none."""
        if name in self.known:
            return self.known[name]
        near = nearest(name, self.known)
        raise CommandInvalid(
            f"no context named {quoted(name)}.",
            hint=(f"Did you mean `{near}`? " if near else "")
            + "`windlass config contexts` lists them, `windlass config contexts add` adds one.",
        )

    def with_one(self, context: Context) -> "Contexts":
        if not _NAME.fullmatch(context.name):
            raise CommandInvalid(
                f"{quoted(context.name)} cannot be a context's name.",
                hint="Take letters, digits, dots, dashes and underscores, up to 64.",
            )
        return Contexts({**self.known, context.name: context}, self.current)

    def without(self, name: str) -> "Contexts":
        self.named(name)
        others = {each: self.known[each] for each in self.known if each != name}
        return Contexts(others, None if self.current == name else self.current)

    def choosing(self, name: str | None) -> "Contexts":
        return Contexts(self.known, self.named(name).name if name else None)


def file() -> Path:
    return Path(click.get_app_dir("windlass")) / "contexts.toml"


def read() -> Contexts:
    """Read the contexts file; no contexts if there is no file."""
    try:
        text = file().read_text("utf-8")
    except FileNotFoundError:
        return Contexts()
    except (OSError, ValueError) as error:
        raise _unreadable(error) from None
    import tomllib

    try:
        table = tomllib.loads(text)
        known = {name: _context(name, one) for name, one in table.get("contexts", {}).items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise _unreadable(error) from None
    return Contexts(known, table.get("current"))


def write(contexts: Contexts) -> None:
    """Write the contexts to a file only the user can read: database addresses may hold a
    password."""
    from windlass.cli.connect.private_files import write_private

    lines = [f"current = {json.dumps(contexts.current)}"] if contexts.current else []
    for name, one in contexts.known.items():
        lines += ["", f"[contexts.{json.dumps(name)}]"]
        given = {key: getattr(one, key) for key in _FIELDS}
        lines += [f"{key} = {_text(value)}" for key, value in given.items() if value]
    write_private(file(), "\n".join(lines).lstrip() + "\n")


def absolute_url(db: str) -> str:
    """Make a database address independent of the current folder."""
    scheme, _, rest = db.partition(":///")
    place, mark, query = rest.partition("?")
    if not scheme.startswith("sqlite") or not place or place.startswith(("/", ":")):
        return db
    return f"{scheme}:///{os.path.abspath(place)}{mark}{query}"


def _context(name: str, one: Mapping[str, Any]) -> Context:
    context = Context(name=name, **one)
    if not all(getattr(context, key) is None or isinstance(one[key], str) for key in _FIELDS):
        raise TypeError(f"{name} has a value that is not text")
    if (context.url is None) == (context.db is None):
        raise TypeError(f"{name} needs either url or db")
    return context


def _text(value: str) -> str:
    # A JSON string is a valid TOML string, except for this character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _unreadable(error: Exception) -> CommandInvalid:
    return CommandInvalid(
        f"{file()} cannot be read: {error}.",
        hint="Fix the file, or remove it and add the contexts again.",
    )
