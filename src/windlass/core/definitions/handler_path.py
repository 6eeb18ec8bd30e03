"""Dotted paths by which definitions name their handlers, and the prefixes that allow them."""

from collections.abc import Collection

from windlass.errors import DefinitionInvalid
from windlass.errors.wording import quoted


def check_path(definition: str, path: str, prefixes: Collection[str]) -> str:
    """`path` itself, if it is a dotted path to a function under one of the prefixes; else
    DefinitionInvalid."""
    if not is_dotted(path):
        raise DefinitionInvalid(
            definition,
            f"{quoted(path)} is no dotted path to a function",
            hint="Write it like shop.jobs.report.",
            pointer="/path",
        )
    if not has_prefix(path, prefixes):
        raise DefinitionInvalid(
            definition,
            f"{path} is under none of the prefixes that are allowed here",
            hint=f"Allowed are: {', '.join(prefixes) or 'none'}; see the setting worker.handler_paths.",
            pointer="/path",
        )
    return path


def is_dotted(path: str) -> bool:
    """True if a text is a module and a name in it."""
    return "." in path and all(part.isidentifier() for part in path.split("."))


def has_prefix(path: str, prefixes: Collection[str]) -> bool:
    """True if a path begins with one of the prefixes."""
    return any(path.startswith(f"{prefix.rstrip('.')}.") for prefix in prefixes)
