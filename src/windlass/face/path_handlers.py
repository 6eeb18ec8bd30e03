"""Handlers that a definition's row names: by a dotted path under prefixes that the settings allow, or
a command that the settings have."""

import importlib
from typing import Any

from windlass.core.definition import Definition
from windlass.core.handler_path import check_path, is_under
from windlass.errors import DefinitionInvalid
from windlass.face.declare import declare
from windlass.face.declared import Declared
from windlass.face.file_commands import command_handler
from windlass.settings import Settings
from windlass.worker.handlers import Handler


def row_handler(row: Definition, settings: Settings) -> Handler:
    """The handler of a definition that an operator made: by its path, or a command by its name."""
    found = command_handler if row.kind == "command" else path_handler
    return found(row, settings)


def path_handler(row: Definition, settings: Settings) -> Handler:
    """The handler that a row names. Nothing outside of the allowed prefixes is ever imported."""
    allowed = settings.worker.handler_paths
    found = _found(check_path(row.key, row.handler, allowed))
    function = found.handler.call if isinstance(found, Declared) else found
    if not callable(function):
        raise DefinitionInvalid(row.key, f"{row.handler} is no function")
    home = getattr(function, "__module__", None) or ""
    if not is_under(f"{home}.", allowed):
        raise DefinitionInvalid(
            row.key,
            f"{row.handler} is only imported there and stands in {home or 'no module'}, which is"
            " under none of the prefixes that this worker allows",
            hint="Name a function by the module it stands in.",
        )
    return found.handler if isinstance(found, Declared) else declare(found, row.key, {}, settings)


def _found(path: str) -> Any:
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except AttributeError as error:
        raise ImportError(f"there is no {name} in {module}") from error
