"""Cache of completion values, so that a shell need not wait for a database.

Loading the client takes longer than a person waits for a key press. So the last values are offered
at once and refreshed in a background process: they are a few seconds old at most while the person
keeps typing. The cache holds only names, in files that only their user can read.
"""

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from windlass.cli.framework.flags import Flags

#: Cached values older than this are refreshed.
FRESH_SECONDS = 5.0
_KEPT_SECONDS = 7 * 86_400.0
_DATABASE = "WINDLASS_DATABASE_URL"
_FILES = ("windlass.toml", "pyproject.toml")


class CachedValue(NamedTuple):
    """A value to complete, and its description."""

    value: str
    about: str


@dataclass(frozen=True, slots=True)
class CompletionCache:
    """The cached values of one list of one server or database."""

    file: Path

    @classmethod
    def of(cls, source: str, flags: Flags) -> "CompletionCache":
        import hashlib

        identity = json.dumps([source, *_cache_key(flags)])
        name = hashlib.sha256(identity.encode()).hexdigest()[:32]
        return cls(_folder() / f"{name}.json")

    def read(self) -> Sequence[CachedValue] | None:
        """Return the cached values; None if there are none, or the file cannot be read."""
        with contextlib.suppress(OSError, ValueError, TypeError):
            return [CachedValue(*each) for each in json.loads(self.file.read_text("utf-8"))]
        return None

    def write(self, known: Sequence[CachedValue]) -> None:
        from windlass.cli.connect.private_files import write_private

        with contextlib.suppress(OSError):  # completion works without a cache
            write_private(self.file, json.dumps(known))

    def is_fresh(self) -> bool:
        return time.time() - self.file.stat().st_mtime < FRESH_SECONDS

    def claim(self) -> None:
        """Mark the file as fresh, before a refresh starts: other shells then start none."""
        with contextlib.suppress(OSError):
            os.utime(self.file)


def offered(
    source: str, prefix: str, flags: Flags, ask: Callable[[], Sequence[CachedValue] | None]
) -> list[CachedValue]:
    """Return the values with this prefix: from the cache if it is fresh or has a match, else from
    `ask`."""
    cache = CompletionCache.of(source, flags)
    last = cache.read()
    if last is not None:
        fresh = cache.is_fresh()
        found = [one for one in last if one.value.startswith(prefix)]
        if not fresh and found:
            cache.claim()
            _refresh(source, flags)
        if fresh or found:
            return found
    now = ask()
    if now is not None:
        cache.write(now)
    return [one for one in now or () if one.value.startswith(prefix)]


def delete_old_caches() -> None:
    """Remove cache files that are older than a week."""
    for file in _folder().glob("*.json"):
        with contextlib.suppress(OSError):
            if time.time() - file.stat().st_mtime > _KEPT_SECONDS:
                file.unlink()


def _cache_key(flags: Flags) -> list[object]:
    """Everything that selects the server or database and the caller's identity."""
    caller = [flags.tenant, flags.token_file, os.environ.get("WINDLASS_TOKEN")]
    if flags.url:
        return [flags.url, *caller]
    if db := flags.db or os.environ.get(_DATABASE):
        return [db, os.getcwd() if db.startswith("sqlite") else "", *caller]
    return [os.getcwd(), [_saved_at(name) for name in _FILES], *caller]


def _saved_at(name: str) -> int:
    try:
        return os.stat(name).st_mtime_ns
    except OSError:
        return 0


def _refresh(source: str, flags: Flags) -> None:
    """Refresh the cache in a detached process."""
    # Through a pipe: the address may hold a password, and other users can see command lines.
    reading, writing = os.pipe()
    os.write(writing, json.dumps([source, {**asdict(flags), "_typed": []}]).encode())
    os.close(writing)
    if os.fork():
        os.close(reading)
        return
    try:
        os.setsid()
        devnull = os.open(os.devnull, os.O_RDWR)
        for number, ours in enumerate((reading, devnull, devnull)):
            os.dup2(ours, number)
        os.environ.pop("_WINDLASS_COMPLETE", None)
        os.execv(sys.executable, [sys.executable, "-m", "windlass.cli.completion.refresh_cache"])
    finally:
        os._exit(1)


def _folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME")
    if not cache and sys.platform == "darwin":
        cache = os.path.expanduser("~/Library/Caches")
    return Path(cache or os.path.expanduser("~/.cache")) / "windlass" / "completion"
