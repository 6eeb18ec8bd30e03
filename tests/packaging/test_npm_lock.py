"""The lock of the dashboard's packages names no registry: who installs decides where they come from."""

import json
import re

from tests.layout.repository import ROOT

LOCK = ROOT / "ui" / "package-lock.json"


def test_the_lock_names_no_place_to_download_from():
    packages = json.loads(LOCK.read_text("utf-8"))["packages"]
    for package in packages.values():
        package.pop("funding", None)

    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert re.findall(r"https?://[^\"]+", json.dumps(packages)) == []


def test_every_package_has_a_checksum():
    packages = json.loads(LOCK.read_text("utf-8"))["packages"]

    unchecked = [name for name, each in packages.items() if name and "integrity" not in each]

    assert unchecked == []


def test_npm_is_told_to_keep_it_so():
    settings = (ROOT / "ui" / ".npmrc").read_text("utf-8").splitlines()

    assert "omit-lockfile-registry-resolved=true" in settings
