"""The file system of a file: SQLite's locks, and ours, hold only where locks of files do."""

import os
import re
from pathlib import Path

#: Those that share files between machines, where locks may be told of late or not at all.
NETWORKED = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "afs",
        "9p",
        "ceph",
        "glusterfs",
        "lustre",
        "fuse.sshfs",
    }
)
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")


def network_filesystem(path: str, *, mounts: Path = _MOUNTS) -> str | None:
    """The kind of network file system that a file is on; None if it is on none, or nobody can say."""
    kind = filesystem_of(path, mounts=mounts)
    return kind if kind in NETWORKED else None


def filesystem_of(path: str, *, mounts: Path = _MOUNTS) -> str | None:
    """The kind of file system at a path, such as ext4; None where that cannot be told."""
    try:
        lines = mounts.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return None
    longest, kind = "", None
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        place = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), fields[4])
        # The last of those mounted at one place is the one that is seen.
        if _is_below(path, place) and len(place) >= len(longest):
            longest, kind = place, after.split(" ")[0]
    return kind


def _is_below(path: str, place: str) -> bool:
    return place == os.sep or path == place or path.startswith(place + os.sep)
