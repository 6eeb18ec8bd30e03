"""The example of commands does what its README says."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes.shell import Shell

_JOBS = Path(__file__).parents[3] / "examples" / "commands" / "jobs.py"
_PROVIDER = "0198c0de-0000-7000-8000-000000000001"
_WAIT = ("--wait", "--timeout", "60s")


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, f"sqlite:///{tmp_path / 'example.db'}")
    yield shell
    shell.close()


def test_the_example_runs_its_four_commands(shell: Shell):
    worker = shell.start("dev", str(_JOBS))
    worker.sees(r"^  Jobs")
    provider = f"provider_id={_PROVIDER}"

    synced = shell.ok("enqueue", "sync-dropbox", provider, "path_prefix=--all", *_WAIT)
    trained = shell.ok("enqueue", "train-keyword-models", 'keywords=["cat", "dog"]', *_WAIT)
    tagged = shell.ok("enqueue", "recompute-trained-tags", "model=siglip", *_WAIT)
    shell.ok("enqueue", "recompute-zeroshot-tags", *_WAIT)

    assert json.loads(synced.out) == {
        "deed": "sync-dropbox",
        "tenant_id": "default",
        "provider_id": _PROVIDER,
        "path_prefix": "--all",
    }
    assert json.loads(trained.out)["keyword"] == ["cat", "dog"]
    assert json.loads(tagged.out)["model"] == "siglip"


def test_an_invalid_payload_is_refused_and_a_missing_file_is_not_retried(shell: Shell):
    worker = shell.start("dev", str(_JOBS))
    worker.sees(r"^  Jobs")
    provider = f"provider_id={_PROVIDER}"

    assert shell.run("enqueue", "sync-dropbox", "provider_id=7").code != 0
    assert shell.run("enqueue", "sync-dropbox", provider, "tenant_id=globex").code != 0
    gone = shell.run("enqueue", "sync-dropbox", provider, "path_prefix=/gone", *_WAIT)

    assert gone.code != 0
    worker.sees(r"✕ dead letter +sync-dropbox .*no such folder: /gone")
