"""Version of the code that a worker runs, if nobody names one."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

_LENGTH = 12


def code_version(files: Iterable[str]) -> str | None:
    """The start of a hash of these files; None without any. Equal files have equal versions,
    wherever they lie."""
    found = {}
    for file in files:
        try:
            content = Path(file).read_bytes()
        except OSError:  # an interactive session, or an archive
            continue
        found[file] = hashlib.sha256(content).hexdigest()
    if not found:
        return None
    return hashlib.sha256("".join(sorted(found.values())).encode()).hexdigest()[:_LENGTH]
