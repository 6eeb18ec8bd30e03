"""Wheel and sdist carry the dashboard and the licences of its parts, as WINDLASS_UI says."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile

import pytest

_BUILD = """
import sys
from hatchling import build
print(sys.argv[1] == "wheel" and build.build_wheel("built") or build.build_sdist("built"))
"""
#: Run in an environment that has the installed package alone before the checkout's.
_SERVE = """
import asyncio, json, sys
import httpx2
import windlass
from windlass import Settings, Windlass
from windlass.api.app import create_api

async def main():
    wl = Windlass(f"sqlite:///{sys.argv[1]}/test.db", settings=Settings())
    await wl.engine.schema.migrate()
    transport = httpx2.ASGITransport(create_api(wl))
    async with httpx2.AsyncClient(transport=transport, base_url="http://api") as client:
        page = await client.get("/", headers={"accept": "text/html"}, follow_redirects=True)
        script = await client.get("/assets/index-1a2b.js")
    await wl.close()
    print(json.dumps([windlass.__file__, page.text, script.status_code]))

asyncio.run(main())
"""


@pytest.fixture
def bundle(checkout):
    """A built dashboard with one package in it."""
    (checkout / "ui" / "dist" / "assets").mkdir(parents=True)
    (checkout / "ui" / "dist" / "index.html").write_text("<html><head></head>dashboard</html>")
    (checkout / "ui" / "dist" / "assets" / "index-1a2b.js").write_text("1")
    lock = {"": {}, "node_modules/chart": {}, "node_modules/linter": {"dev": True}}
    (checkout / "ui" / "package-lock.json").write_text(json.dumps({"packages": lock}))
    for name in ("chart", "linter"):
        folder = checkout / "ui" / "node_modules" / name
        folder.mkdir(parents=True)
        about = {"name": name, "version": "1.2.3", "license": "MIT"}
        (folder / "package.json").write_text(json.dumps(about))
        (folder / "LICENSE").write_text(f"Copyright of {name}")
    return checkout / "ui" / "dist"


def build(checkout, target="wheel", *, ui="", path=None):
    environ = {**os.environ, "WINDLASS_UI": ui, **({} if path is None else {"PATH": str(path)})}
    done = subprocess.run(
        [sys.executable, "-c", _BUILD, target],
        cwd=checkout,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    return done, checkout / "built" / (done.stdout.split() or ["-"])[-1]


def named(file):
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return {name: wheel.read(name).decode("utf-8", "replace") for name in wheel.namelist()}
    with tarfile.open(file) as sdist:
        return {each.name.partition("/")[2]: "" for each in sdist.getmembers()}


def install(wheel, folder):
    uv = [sys.executable, "-m", "uv"]
    command = [*uv, "pip", "install", "--offline", "--no-deps", "--target", str(folder), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)


def served(installed, folder):
    """Where the installed package is, and what it serves at `/`."""
    folder.mkdir()
    told = subprocess.run(
        [sys.executable, "-c", _SERVE, str(folder)],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(told.stdout)


def test_an_installed_wheel_serves_its_dashboard(checkout, bundle, tmp_path):
    _, wheel = build(checkout, ui="require")
    install(wheel, tmp_path / "installed")

    file, page, script = served(tmp_path / "installed", tmp_path / "run")

    assert file.startswith(str(tmp_path / "installed"))
    assert "dashboard" in page
    assert script == 200


def test_a_wheel_carries_the_licences_of_what_is_in_the_bundle(checkout, bundle):
    _, wheel = build(checkout)

    licences = named(wheel)["windlass/dashboard/LICENSES.txt"]

    assert "chart 1.2.3: MIT" in licences
    assert "Copyright of chart" in licences
    assert "linter" not in licences


def test_an_sdist_carries_the_bundle_for_the_wheel_built_from_it(checkout, bundle):
    _, sdist = build(checkout, "sdist")

    names = named(sdist)

    assert {"ui/dist/index.html", "ui/dist/LICENSES.txt", "hatch_build.py"} <= names.keys()
    assert not any("node_modules" in name for name in names)


def test_skip_leaves_the_dashboard_out(checkout, bundle, tmp_path):
    _, wheel = build(checkout, ui="skip")
    install(wheel, tmp_path / "installed")

    file, page, script = served(tmp_path / "installed", tmp_path / "run")

    assert file.startswith(str(tmp_path / "installed"))
    assert not any("dashboard/" in name for name in named(wheel))
    assert "Sign in to Windlass" in page
    assert script == 404


@pytest.mark.parametrize(("ui", "fails"), [("auto", False), ("require", True)])
def test_without_npm_only_a_release_needs_the_dashboard(checkout, tmp_path, ui, fails):
    (tmp_path / "empty").mkdir()

    done, wheel = build(checkout, ui=ui, path=tmp_path / "empty")

    assert (done.returncode != 0) is fails
    assert "npm is missing" in done.stdout + done.stderr
    assert wheel.is_file() is not fails


def test_an_unknown_choice_is_refused(checkout):
    done, _ = build(checkout, ui="maybe")

    assert done.returncode != 0
    assert "WINDLASS_UI is 'maybe'; it may be auto, skip, require." in done.stderr
