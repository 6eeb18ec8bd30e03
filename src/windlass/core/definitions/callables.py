"""Callables that can be a handler, and why others cannot."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from windlass.errors import DefinitionInvalid


def check_callable(function: Any, key: str | None, *, isolation: str = "thread") -> None:
    """DefinitionInvalid, with what to do instead, if a value given to `@wl.job` cannot run jobs."""
    name = key or getattr(function, "__name__", None) or type(function).__name__
    problem, hint = _problem(function, key, isolation) or ("", "")
    if problem:
        raise DefinitionInvalid(name, problem, hint=hint)


def _problem(function: Any, key: str | None, isolation: str) -> tuple[str, str] | None:
    """What is wrong with a callable, and what to do; None if it can be a handler."""
    if isinstance(function, staticmethod | classmethod):
        kind = type(function).__name__
        return (
            f"it is a {kind} whose class does not exist yet",
            'Declare it below the class: `wl.job("key")(Mailer.send)`.',
        )
    if not callable(function):
        return f"a {type(function).__name__} cannot be called", "Give a function."
    if inspect.isclass(function):
        return (
            "it is a class, and calling it only makes an object",
            "Give a function that does the work, or an object with `__call__`: "
            '`wl.job("key")(Mailer())`.',
        )
    if key is None and getattr(function, "__name__", "<lambda>") == "<lambda>":
        return (
            f"a {_kind(function)} has no name to be its key",
            'Give it one: `wl.job("key")(…)`.',
        )
    if isolation == "process" and inspect.ismethod(function):
        return (
            "it is a method of an object, which a child process does not have",
            "Use isolation='thread', or a function at the top level of its module.",
        )
    return _signature_problem(function)


def _signature_problem(function: Callable[..., Any]) -> tuple[str, str] | None:
    """Parameters that tell of a method, or of a decorator that hides its function."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError, NameError):
        return None  # said where parameters are checked
    if parameters and parameters[0].name in ("self", "cls") and _has_no_hint(parameters[0]):
        return (
            f"it is a method, and `{parameters[0].name}` is nothing a payload can hold",
            'Write a function, or declare the method of an object: `wl.job("key")(mailer.send)`.',
        )
    kinds = {parameter.kind for parameter in parameters}
    nested = "<locals>" in getattr(function, "__qualname__", "")
    if nested and kinds == {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        return (
            "a decorator hides its parameters",
            "Put `@functools.wraps(function)` on the function that the decorator returns.",
        )
    return None


def _has_no_hint(parameter: inspect.Parameter) -> bool:
    return parameter.annotation is inspect.Parameter.empty


def _kind(function: Any) -> str:
    if isinstance(function, functools.partial):
        return "partial"
    return "lambda" if inspect.isfunction(function) else type(function).__name__
