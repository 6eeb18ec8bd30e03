"""The four databases of chaos runs: SQLite, PostgreSQL, PostgreSQL behind PgBouncer, MariaDB."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.databases import migrate
from tests.databases.servers import Server, pgbouncer
from tests.databases.servers.mariadb import MariadbServer
from tests.databases.servers.postgres import PostgresServer
from tests.support.servers.tcp_proxy import Proxy

SETUPS = ("sqlite", "postgresql", "pgbouncer", "mariadb")
_OWN = "/proc/self/ns/mnt"
#: The variable that names the mounts this program was started among.
_COMMON = "CHAOS_COMMON_MOUNTS"


@dataclass(frozen=True)
class Setup:
    """A database that is there, and the ways to it."""

    name: str
    #: What most processes use, and those behind the proxy.
    url: str
    proxied_url: str
    #: Straight to the database, past pooler and proxy.
    direct_url: str
    settings: dict[str, object] = field(default_factory=dict)
    server: Server | None = None
    bouncer: Server | None = None
    proxy: Proxy | None = None
    #: A file system of its own that the database fills, if there may be one.
    disk: Path | None = None

    @property
    def kind(self) -> str:
        return self.direct_url.partition(":")[0]


@contextmanager
def open_setup(name: str, folder: Path, disk_mb: int) -> Iterator[Setup]:
    """Start the servers of a set-up, migrated; all is gone when the block ends."""
    with ExitStack() as stack:
        disk = folder / "disk"
        disk.mkdir()
        disk.chmod(0o755)
        mounted = stack.enter_context(_mounted(disk, disk_mb))
        own = disk if mounted else None
        if name == "sqlite":
            url = f"sqlite:///{disk}/chaos.db"
            migrate(url)
            yield Setup(name, url, url, url, disk=own)
            return
        kind = MariadbServer if name == "mariadb" else PostgresServer
        server = stack.enter_context(kind(durable=True, parent=own))
        migrate(server.url)
        bouncer = stack.enter_context(pgbouncer(server)) if name == "pgbouncer" else None
        way = bouncer.url if bouncer else server.url
        proxy = stack.enter_context(Proxy.before(way))
        yield Setup(
            name,
            way,
            proxy.url,
            server.url,
            {"database_listen_url": server.url} if bouncer else {},
            server,
            bouncer,
            proxy,
            own,
        )


@contextmanager
def _mounted(folder: Path, megabytes: int) -> Iterator[bool]:
    """A small file system of its own, where this process may mount one that nobody else sees."""
    if not _has_own_mounts():
        yield False
        return
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "chaos", str(folder)]
    done = subprocess.run(mount, check=False, capture_output=True)
    try:
        yield done.returncode == 0
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", "--lazy", str(folder)], check=False)


def leave_common_mounts() -> None:
    """Start this program again apart from the mounts of all others, where that is allowed: a disk
    can be filled there, and nothing of it stays, whatever ends the program."""
    apart = ["unshare", "--mount", "--propagation", "private"]
    if os.geteuid() != 0 or _COMMON in os.environ or shutil.which("unshare") is None:
        return
    os.environ[_COMMON] = os.readlink(_OWN)
    if subprocess.run([*apart, "true"], check=False, capture_output=True).returncode == 0:
        os.execvp("unshare", [*apart, sys.executable, *sys.orig_argv[1:]])


def _has_own_mounts() -> bool:
    return os.environ.get(_COMMON, os.readlink(_OWN)) != os.readlink(_OWN)
