"""Our own side stays alive as a process of its own, and ratios are what they say."""

import sys
from pathlib import Path

import pytest

from benchmarks.goals import Goal
from benchmarks.measure import alternate, ratio, run_side

DEEDS = [
    ("windlass_side", "fill", "120", "2"),
    ("windlass_side", "drain", "120", "50"),
    ("windlass_enqueue", "single", "0.1"),
]


def test_our_side_gives_figures_from_a_process_of_its_own(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/bench.db"

    for side, deed, *args in DEEDS:
        figures = run_side(sys.executable, side, deed, url, *args, timeout=60)

        assert all(figure > 0 for figure in figures.values()), deed


def test_a_side_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="KeyError"):
        run_side(sys.executable, "windlass_side", "juggle", f"sqlite:///{tmp_path}/bench.db")


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    assert ratio([2, 9, 4], [1, 3, 4]).median == pytest.approx(2)


def test_each_round_begins_with_another_side() -> None:
    order: list[str] = []

    alternate(
        {"a": lambda: order.append("a") or {}, "b": lambda: order.append("b") or {}}, rounds=2
    )

    assert order == ["a", "b", "b", "a"]


def test_a_goal_without_a_bound_is_neither_met_nor_missed() -> None:
    goal = Goal("≤", None, 1.2)

    assert goal.met_by(1.0, goal.engine) is None
    assert goal.met_by(1.2, goal.all)
    assert not goal.met_by(1.3, goal.all)
