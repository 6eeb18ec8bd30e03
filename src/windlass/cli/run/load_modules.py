"""Imports the modules that declare jobs and finds the apps in them."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from windlass.app import sync
from windlass.app.windlass import Windlass
from windlass.cli.run.signals import is_interrupt
from windlass.core.text import text_of, type_name
from windlass.errors import AppNotFound, ModuleNotLoaded, WindlassError


def load_apps(modules: Sequence[str]) -> list[Windlass]:
    """Return every app at the top level of these modules, in order and once.

    A module is a dotted name or a file. Raises ModuleNotLoaded if it cannot be imported,
    AppNotFound if no module has an app.
    """
    apps: dict[int, Windlass] = {}
    for name in modules:
        apps |= {id(app): app for app in apps_in(load_module(name))}
    if not apps:
        raise AppNotFound(modules)
    return list(apps.values())


async def learn(app: Windlass, apps: Sequence[Windlass]) -> None:
    """Register what other apps declare, as a worker that runs them would."""
    await app.close()
    for each in apps:
        for handler in each.handlers.values():
            app.handlers.add(handler)
    await app.ready()


def load_module(name: str) -> ModuleType:
    """Import a dotted name from the current folder, or a file by its path."""
    try:
        if not is_file(name):
            _add_to_path(Path.cwd())
            return importlib.import_module(name)
        path = Path(name).resolve()
        if not path.is_file():
            raise ModuleNotLoaded(name, cause="no such file")
        return _load_file(path)
    except WindlassError:
        raise
    except BaseException as error:  # a module may raise anything while it is imported
        if is_interrupt(error):
            raise
        raise ModuleNotLoaded(name, cause=f"{type_name(error)}: {text_of(error)}") from error


def apps_in(module: ModuleType) -> Iterator[Windlass]:
    """The apps at the top level of a module, async and blocking."""
    for value in list(vars(module).values()):
        if isinstance(value, Windlass):
            yield value
        elif isinstance(value, sync.Windlass):
            yield value.app


def is_file(name: str) -> bool:
    """True if a module is given as a file."""
    return name.endswith(".py") or "/" in name


def _load_file(path: Path) -> ModuleType:
    root, dotted = _package_of(path)
    _add_to_path(root)
    if "." in dotted:
        return importlib.import_module(dotted)
    # Registered under its own name, so that other imports get the same module.
    if dotted in sys.modules:
        dotted = f"windlass_jobs_{dotted}"
    spec = importlib.util.spec_from_file_location(dotted, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A child process finds handlers by this file: the name can be imported only here.
    module.__windlass_file__ = True  # type: ignore[attr-defined]  # our own mark
    sys.modules[dotted] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[dotted]
        raise
    return module


def _package_of(path: Path) -> tuple[Path, str]:
    """The folder to import a file from, and its module name; the full dotted name inside a
    package."""
    names, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(names)


def _add_to_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
