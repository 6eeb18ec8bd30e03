"""The page is written from kept results alone."""

from pathlib import Path
from xml.etree import ElementTree

from benchmarks.charts import Bar, chart
from benchmarks.findings import Answer, alone, compared, load
from benchmarks.page import write

OURS = [{"per_second": 30.0}, {"per_second": 20.0}, {"per_second": 40.0}]
THEIRS = [{"per_second": 10.0}, {"per_second": 10.0}, {"per_second": 10.0}]


def an_answer() -> Answer:
    return Answer(
        question="How fast?",
        name="drain",
        findings=[
            compared("drain", OURS, THEIRS, "per_second", "jobs/s", other="Peer 1", goal="P1"),
            alone("log", OURS, "per_second", "bytes", goal="P20"),
            alone("another", OURS, "per_second", "jobs/s"),
        ],
        notes=("Graphile Worker could not be installed, and its rows are left out.",),
        versions={"PostgreSQL": "15.1"},
        cores=2,
    )


def test_what_was_found_is_kept_whole(tmp_path: Path) -> None:
    an_answer().save(tmp_path)

    [answer] = load(tmp_path)

    assert list(answer.findings) == list(an_answer().findings)
    assert answer.versions == {"PostgreSQL": "15.1"}


def test_the_page_says_what_is_met_and_what_was_left_out(tmp_path: Path) -> None:
    an_answer().save(tmp_path)

    write(tmp_path, tmp_path)

    page = (tmp_path / "performance.md").read_text("utf-8")
    assert "| P1 | drain | 30 jobs/s | Peer 1: 10 jobs/s | **3.00** (2.00–4.00) |" in page
    assert "Of 2 rows, 2 meet the far goal" in page
    assert "Graphile Worker could not be installed" in page
    assert "2 cores, 3 rounds; PostgreSQL 15.1" in page
    assert (tmp_path / "performance-drain.svg").exists()


def test_a_chart_is_well_formed_and_names_what_it_shows() -> None:
    svg = chart("Ours & theirs", [Bar("a < b", 2.0), Bar("c", 0.5, ours=False)], line=1.0)

    texts = [element.text for element in ElementTree.fromstring(svg).iter() if element.text]
    assert "Ours & theirs" in texts
    assert "a < b" in texts
