"""Causes and cures of every error, by its code."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Remedy:
    """Why an error happens, and what to do about it: whole sentences, the likeliest first."""

    causes: tuple[str, ...]
    cures: tuple[str, ...]


@cache
def remedies() -> Mapping[str, Remedy]:
    """The table of remedies by code. It is read when it is first needed."""
    text = files("windlass.errors").joinpath("remedies.toml").read_text("utf-8")
    return {
        code: Remedy(tuple(row["causes"]), tuple(row["cures"]))
        for code, row in tomllib.loads(text).items()
    }
