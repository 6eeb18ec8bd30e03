"""Directories of the application: files beneath a root, never through a link."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from windlass.errors import DirectoryMissing


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file beneath a root. It is opened and removed in the directory it was found in, so
    that a link put in its place leads nowhere else."""

    path: str
    changed_at: float
    _name: str
    _directory: int

    def head(self, most: int) -> bytes:
        """Its first bytes, at most so many."""
        opened = os.open(self._name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self._directory)
        with os.fdopen(opened, "rb") as file:
            return file.read(most)

    def remove(self) -> bool:
        """Remove it; False if it is gone already."""
        try:
            os.unlink(self._name, dir_fd=self._directory)
        except FileNotFoundError:
            return False
        return True


def check_directory(root: str, *, setting: str) -> None:
    """DirectoryMissing if a directory is not there or cannot be listed; `setting` names it."""
    try:
        with os.scandir(root):
            pass
    except OSError as error:
        raise DirectoryMissing(
            root, problem=error.strerror or type(error).__name__, setting=setting
        ) from None


def files_beneath(root: str) -> Iterator[FoundFile]:
    """The regular files beneath a directory, while it is walked. Links are not followed."""
    for place, _, names, directory in os.fwalk(root):
        for name in names:
            try:
                seen = os.stat(name, dir_fd=directory, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if stat.S_ISREG(seen.st_mode):
                yield FoundFile(os.path.join(place, name), seen.st_mtime, name, directory)
