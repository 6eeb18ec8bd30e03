"""A real server with a worker, users of each role, and jobs in each state, for a browser to look at."""

import contextlib
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.processes.shell import Shell
from tests.support.wait import until
from windlass import JobFailed, Receipt, Settings, Windlass
from windlass.core.access.principal import local
from windlass.core.jobs.states import JobState
from windlass.engine.access.sessions import NewSession

PASSWORD = "correct horse battery staple"
#: Role -> name of the user that has it; of `tenant_admin` and `user` in the tenant acme.
USERS = {"superadmin": "root", "tenant_admin": "grace", "user": "ada"}
_JOBS = Path(__file__).parent / "sample_jobs.py"
#: Longer than anything takes, also on a busy machine.
PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class Installation:
    """A running installation. `wl` is an app on its database, in this process."""

    url: str
    wl: Windlass
    folder: Path
    #: Role -> secret of an open session of its user.
    sessions: Mapping[str, str]
    #: The running job, which ends once `end_import` is called.
    running: Receipt[Any]

    def end_import(self) -> None:
        (self.folder / "rows.csv").touch()


@asynccontextmanager
async def installed(database_url: str, folder: Path) -> AsyncIterator[Installation]:
    """A new installation on an empty database, while the block lasts."""
    shutil.copy(_JOBS, folder / "jobs.py")
    shell = Shell(folder, database_url)
    wl = Windlass(database_url, settings=Settings())
    try:
        server = shell.start("serve", "jobs.py", "--all", "--port", "0")
        said = server.sees(r"The API is at http://\S+/api/v1")
        found = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert found is not None
        sessions = await _add_users(wl)
        running = await _add_jobs(wl, folder)
        yield Installation(found[0], wl, folder, sessions, running)
    finally:
        (folder / "rows.csv").touch()
        await wl.close()
        shell.close()


async def _add_users(wl: Windlass) -> dict[str, str]:
    engine = await wl.ready()
    for tenant in ("acme", "globex"):
        await wl.tenants.create(tenant)
    root = await engine.users.create(
        local(), USERS["superadmin"], superadmin=True, password=PASSWORD
    )
    session = await engine.sessions.begin(root.id, address=None, note="tests")
    sessions = {"superadmin": session.secret}
    for role in ("tenant_admin", "user"):
        sessions[role] = (await _add_member(wl, USERS[role], role)).secret
    return sessions


async def _add_member(wl: Windlass, name: str, role: str) -> NewSession:
    engine = await wl.ready()
    invited = await engine.members.invite(local(), "acme", name, role=role)
    return await engine.invitations.accept_as_new(invited.link.secret, PASSWORD)


async def _add_jobs(wl: Windlass, folder: Path) -> Receipt[Any]:
    """Jobs in each state. Returns the one that runs."""
    await wl.queues.pause("letters", reason="the printer is out of paper")
    done = [
        await wl.enqueue("hello", {"name": name}, tenant=tenant)
        for name, tenant in (("Ada", "acme"), ("Grace", "acme"), ("Hedy", "globex"))
    ]
    failed = [
        await wl.enqueue("payment.charge", {"order": order, "why": why}, tenant="acme")
        for order, why in ((1, "the card is expired"), (2, "the card is expired"), (3, "no funds"))
    ]
    await wl.enqueue("mail.letter", {"to": "Ada"}, tenant="acme")
    await wl.enqueue("hello", {"name": "later"}, tenant="acme", delay="1h")
    await wl.emit("order.paid", {"order": 4711}, tenant="acme")
    file = {"file": str(folder / "rows.csv")}
    running = await wl.enqueue("rows.import", file, tenant="acme")
    for receipt in (*done, *failed):
        with contextlib.suppress(JobFailed):
            await wl.jobs.wait(receipt.job_id, PATIENCE_SECONDS)
    await until(lambda: _is_running(wl, running))
    return running


async def _is_running(wl: Windlass, receipt: Receipt[Any]) -> bool:
    return (await wl.jobs.get(receipt.job_id)).state is JobState.RUNNING
