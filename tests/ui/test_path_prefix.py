"""The dashboard below a path of another application."""

import re

import pytest
from playwright.async_api import expect

from tests.support.processes.shell import Shell
from tests.ui.installation import PASSWORD
from windlass import Windlass
from windlass.core.access.principal import local

HOST = """
import socket, sys
import uvicorn
from starlette.applications import Starlette
from windlass import Windlass
from windlass.api.app import create_api

host = Starlette()
host.mount("/admin/windlass", create_api(Windlass(sys.argv[1])))
listening = socket.create_server(("127.0.0.1", 0))
print(f"at http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(host, lifespan="off", log_config=None)).run(sockets=[listening])
"""


@pytest.fixture
def shell(tmp_path):
    shell = Shell(tmp_path)
    yield shell
    shell.close()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_signing_in_and_going_from_page_to_page(database, shell, new_page):
    wl = Windlass(database.url)
    engine = await wl.ready()
    await engine.users.create(local(), "root", superadmin=True, password=PASSWORD)
    await wl.close()
    shell.write("host.py", HOST)
    said = shell.start_python("host.py", database.url).sees(r"at http://\S+")
    prefix = re.search(r"http://\S+", said)[0] + "/admin/windlass"
    page = await new_page(prefix)

    await page.goto(f"{prefix}/queues")
    await page.get_by_label("Name").fill("root")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("link", name="Workers").first.click()

    await expect(page).to_have_url(f"{prefix}/workers")
    await expect(page).to_have_title(re.compile("Workers"))
    await page.reload()
    await expect(page).to_have_title(re.compile("Workers"))
