"""The faults of chaos runs: each injects one, waits for its effect, and reports it."""

from tests.chaos.faults import changes, clocks, databases, files, network, processes
from tests.chaos.run import Fault
from tests.chaos.setups import Setup


def lanes_of(setup: Setup) -> list[dict[str, Fault]]:
    """The faults that can be had on a set-up: of processes, of the database, and of changes."""
    if setup.name == "sqlite":
        database = {**files.FAULTS, **(files.DISK_FAULTS if setup.disk else {})}
    else:
        database = {**databases.FAULTS, **network.FAULTS}
        database |= network.POOLER_FAULTS if setup.bouncer else {}
        database |= databases.DISK_FAULTS if setup.disk else {}
    return [processes.FAULTS, database, {**changes.FAULTS, **clocks.faults_of(setup)}]
