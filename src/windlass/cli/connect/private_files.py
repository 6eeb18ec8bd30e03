"""Files that only the user can read."""

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file atomically: after a crash or a concurrent write, one whole version remains."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A private temporary file is renamed: others can read the file at no time.
    new = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    new.replace(path)
