"""Finds the programs that tests run, or installs the system's packages for them."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.databases.kinds import NoDatabase


@dataclass(frozen=True)
class Product:
    """A program that tests run, as the system knows it."""

    name: str
    programs: tuple[str, ...]
    #: Where its programs are besides PATH; of several versions the newest counts.
    places: tuple[str, ...]
    packages: tuple[str, ...]
    #: The variable that names a server to use instead, if there is one.
    variable: str | None

    def path_of(self, program: str) -> Path | None:
        """Where `program` is, or None."""
        found = [path for place in self.places for path in Path("/").glob(f"{place}/{program}")]
        if found:
            return max(found, key=lambda path: [int(n) for n in re.findall(r"\d+", str(path))])
        on_path = shutil.which(program)
        return Path(on_path) if on_path else None

    @property
    def is_here(self) -> bool:
        return all(self.path_of(program) for program in self.programs)


POSTGRES = Product(
    name="PostgreSQL",
    programs=("postgres", "initdb"),
    places=("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin"),
    packages=("postgresql",),
    variable="WINDLASS_TEST_POSTGRES_URL",
)
MARIADB = Product(
    name="MariaDB",
    programs=("mariadbd", "mariadb-install-db"),
    places=("usr/sbin", "usr/bin", "usr/libexec"),
    # The core packages bring the programs without a service.
    packages=("mariadb-server-core", "mariadb-client-core"),
    variable="WINDLASS_TEST_MARIADB_URL",
)
PGBOUNCER = Product(
    name="PgBouncer",
    programs=("pgbouncer",),
    places=("usr/sbin", "usr/bin"),
    packages=("pgbouncer",),
    variable=None,
)
#: Gives a process a wrong clock.
FAKETIME = Product(
    name="libfaketime",
    programs=("libfaketime.so.1",),
    places=("usr/lib/*/faketime", "usr/lib64/faketime"),
    packages=("libfaketime",),
    variable=None,
)
#: Shows the dashboard to its tests.
CHROMIUM = Product(
    name="Chromium",
    programs=("chromium",),
    places=("usr/bin",),
    packages=("chromium",),
    variable=None,
)

_INSTALL = """
set -e
export DEBIAN_FRONTEND=noninteractive
# A package must not start a service of its own beside the private instance.
guard=/usr/sbin/policy-rc.d
if [ ! -e "$guard" ]; then
    trap 'rm -f "$guard"' EXIT
    printf '#!/bin/sh\\nexit 101\\n' > "$guard"
    chmod 755 "$guard"
fi
apt-get update -q
apt-get install -q -y --no-install-recommends "$@"
"""


def program(product: Product, name: str) -> Path:
    """The path of one of `product`'s programs, installed if need be."""
    ensure([product])
    path = product.path_of(name)
    assert path is not None
    return path


def ensure(products: Iterable[Product]) -> None:
    """Install what is missing of `products`, in one go."""
    missing = [product for product in products if not product.is_here]
    if not missing:
        return
    names = " and ".join(product.name for product in missing)
    print(f"installing the system's packages for {names}", file=sys.stderr, flush=True)
    packages = [package for product in missing for package in product.packages]
    done = subprocess.run(
        [*_become_root(missing), "sh", "-c", _INSTALL, "sh", *packages],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode != 0 or not all(product.is_here for product in missing):
        raise NoDatabase(f"installing {names} failed. {_advice(missing)}")


def _become_root(missing: list[Product]) -> list[str]:
    if not shutil.which("apt-get"):
        raise NoDatabase(f"no apt-get to install packages with. {_advice(missing)}")
    if os.geteuid() == 0:
        return []
    if not shutil.which("sudo"):
        raise NoDatabase(f"installing packages needs root. {_advice(missing)}")
    return ["sudo", "-n"]


def _advice(missing: list[Product]) -> str:
    return "; ".join(
        f"install {product.name} ({' '.join(product.packages)})"
        + (f" or name a server in {product.variable}" if product.variable else "")
        for product in missing
    )
