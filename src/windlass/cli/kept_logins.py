"""What `windlass login` keeps: for each server a token or a session, in a file of the user's own."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import click

from windlass.errors import CommandInvalid

Kind = Literal["token", "session"]


def kept(url: str) -> dict[str, Any]:
    """The token or session for a server; empty if there is none."""
    return dict(_all().get(_key(url), {}))


def keep(url: str, credential: Mapping[Kind, str] | None) -> None:
    """Keep a credential for a server, instead of any before; None forgets it."""
    logins = _all()
    logins.pop(_key(url), None)
    if credential is not None:
        logins[_key(url)] = {str(kind): secret for kind, secret in credential.items()}
    path = file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Written apart and moved: no other can read it, and a crash leaves the old one whole.
    new = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(logins, stream, indent=2)
    new.replace(path)


def file() -> Path:
    return Path(click.get_app_dir("windlass")) / "logins.json"


def _all() -> dict[str, dict[str, str]]:
    try:
        logins = json.loads(file().read_text("utf-8"))
        return {url: dict(login) for url, login in logins.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise CommandInvalid(
            f"{file()} cannot be read: {error}.", hint="Remove it, then `windlass login` again."
        ) from None


def _key(url: str) -> str:
    return url.rstrip("/")
