"""A peer that cannot be had is left out, and the answer says so."""

from pathlib import Path

import pytest

from benchmarks.peers import Peers


def test_without_npm_graphile_worker_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINDLASS_BENCH_PEERS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))

    peers = Peers()

    assert peers.node is None
    assert peers.missing == ["Graphile Worker could not be installed, and its rows are left out."]


def test_a_run_without_peers_installs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINDLASS_BENCH_PEERS", str(tmp_path))

    peers = Peers(wanted=False)

    assert peers.python is None
    assert not list(tmp_path.iterdir())
