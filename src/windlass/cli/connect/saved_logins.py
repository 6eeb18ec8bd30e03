"""Saved logins: a token or a session for each server, in a private file of the user."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import click

from windlass.cli.connect.private_files import write_private
from windlass.errors import CommandInvalid

Kind = Literal["token", "session"]


def kept(url: str) -> dict[str, Any]:
    """Return the saved token or session for a server; empty if there is none."""
    return dict(_all().get(_key(url), {}))


def save_login(url: str, credential: Mapping[Kind, str] | None) -> None:
    """Save a credential for a server, replacing any other; None removes it."""
    logins = _all()
    logins.pop(_key(url), None)
    if credential is not None:
        logins[_key(url)] = {str(kind): secret for kind, secret in credential.items()}
    write_private(file(), json.dumps(logins, indent=2))


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
