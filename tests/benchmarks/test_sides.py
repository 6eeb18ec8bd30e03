"""The benchmarks stay alive: each deed of our own side runs once, small and without peers."""

import sys
from pathlib import Path

import pytest

from benchmarks.measure import ratio, run_side

DEEDS = [
    ("fill", "200", "5"),
    ("drain", "200", "50"),
    ("enqueue_single", "5"),
    ("enqueue_concurrent", "40", "20"),
    ("enqueue_bulk", "100"),
    ("claim", "2"),
    ("pickup", "3"),
]


def test_every_deed_of_our_side_gives_figures(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/bench.db"

    for deed, *args in DEEDS:
        figures = run_side(sys.executable, "windlass_side", deed, url, *args, timeout=60)

        assert all(figure > 0 for figure in figures.values()), deed


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    assert ratio([2, 9, 4], [1, 3, 4]).median == pytest.approx(2)
