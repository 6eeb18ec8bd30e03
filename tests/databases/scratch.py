"""The directory of test databases and temporary files: in memory, if possible.

A commit waits for the disk, several milliseconds on many machines, and each DDL statement of MariaDB
for more than one such write: in memory the tests of databases take a third of the time. What a crash
of a process leaves is the same.
"""

import os
import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
#: Less is what containers have by default, and a run needs more.
_LEAST_BYTES = 2 << 30


def use_memory() -> None:
    """Have this process, and those it starts, put temporary files into memory."""
    if "TMPDIR" not in os.environ and _is_usable():
        os.environ["TMPDIR"] = str(_MEMORY)
        tempfile.tempdir = None  # looked up before, perhaps


def open_to_all() -> str:
    """A temporary directory that other accounts may enter: root's own may be closed to them."""
    return str(_MEMORY) if tempfile.gettempdir() == str(_MEMORY) else "/tmp"


def _is_usable() -> bool:
    try:
        no_programs = os.statvfs(_MEMORY).f_flag & os.ST_NOEXEC
        return not no_programs and shutil.disk_usage(_MEMORY).free >= _LEAST_BYTES
    except OSError:
        return False
