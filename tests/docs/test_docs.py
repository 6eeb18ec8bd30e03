"""The docs tell the truth: snippets run, links lead somewhere, generated pages are current."""

import importlib.util
import json
import os
import re
import tempfile
from pathlib import Path

import pytest

from tests.support.processes.fork_server import FORK_SERVER
from windlass.engine.monitoring.metrics import METRICS
from windlass.worker.health_probe import PROCESS_METRICS

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
_PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize(
    "page", [p for p in PAGES if _PYTHON.search(p.read_text("utf-8"))], ids=_name
)
def test_the_snippets_of_a_page_run(page: Path, tmp_path: Path) -> None:
    for number, snippet in enumerate(_programs(page.read_text("utf-8"))):
        (tmp_path / f"snippet_{number}.py").write_text(snippet, "utf-8")

        code, said = _run_program(f"snippet_{number}.py", tmp_path)

        assert code == 0, f"{snippet}\n{said}"


def _run_program(file: str, folder: Path) -> tuple[int, str]:
    """How a program in a folder ends, and what it says."""
    with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile("w+") as output:
        streams = (nothing.fileno(), output.fileno(), output.fileno())
        process = FORK_SERVER.start(file, folder=folder, environ=os.environ, streams=streams)
        code = process.wait(60)
        output.seek(0)
        return code, output.read()


def _programs(text: str) -> list[str]:
    """A page's snippets; one that makes no app of its own goes on from the one before."""
    programs: list[str] = []
    for snippet in _PYTHON.findall(text):
        if "Windlass(" in snippet or not programs:
            programs.append(snippet)
        else:
            programs[-1] += "\n" + snippet
    return [_run(program) for program in programs]


def _run(program: str) -> str:
    """A snippet that defines `main` and leaves running it to the reader is run."""
    if "async def main()" in program and "asyncio.run(" not in program:
        return f"{program}\nimport asyncio\nasyncio.run(main())\n"
    return program


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{_name(page)} links to {target}"


def test_the_readme_is_under_150_lines() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) < 150


def test_the_index_of_decisions_has_each_with_its_title_and_status() -> None:
    folder = ROOT / "docs" / "decisions"
    rows = re.findall(
        r"^\| \[(\d{4})\]\((.+)\) \| (.+) \| (.+) \|$", _text(folder / "README.md"), re.M
    )

    told = {file: (f"# {number} {title}", status) for number, file, title, status in rows}
    assert sorted(told) == sorted(page.name for page in folder.glob("0*.md"))
    for file, (heading, status) in told.items():
        first, _, rest = _text(folder / file).partition("\n")
        assert first == heading
        superseded = re.search(r"\*\*Status\.\*\* S(uperseded by \[\d{4}\]\([^)]+\))", rest)
        assert status == (f"s{superseded[1]}" if superseded else "accepted"), file


def test_the_glossary_has_one_row_for_each_word_and_at_most_35_nouns() -> None:
    _, nouns, verbs = _text(ROOT / "docs" / "glossary.md").split("\n## ")

    for text, most in ((nouns, 35), (verbs, 40)):
        rows = [line for line in text.splitlines()[1:] if line and not line.startswith("The verb")]
        words = [re.fullmatch(r"\| ([a-z, ]+) \| (.+) \|", row) for row in rows[2:]]
        assert all(words), "a line is no row of the table"
        named = [word for row in words if row for word in row[1].split(", ")]
        assert len(named) == len(set(named)) <= most


def _text(page: Path) -> str:
    return page.read_text("utf-8")


def test_the_generated_pages_are_what_the_code_says() -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)

    for path, text in generate.pages().items():
        assert path.read_text("utf-8") == text, f"run python docs/generate.py: {path.name}"


@pytest.mark.parametrize("name", ["grafana.json", "alerts.yml", "metrics.md"])
def test_every_metric_that_is_named_exists(name: str) -> None:
    known = {metric.name for metric in METRICS} | set(PROCESS_METRICS)

    text = (ROOT / "docs" / "operate" / name).read_text("utf-8")

    named = set(re.findall(r"\bwindlass_[a-z_]+", text))
    assert named
    assert {re.sub("_(total|bucket|count|sum)$", "", each) for each in named} <= known


def test_the_dashboard_shows_every_metric_of_the_installation() -> None:
    dashboard = json.loads((ROOT / "docs" / "operate" / "grafana.json").read_text("utf-8"))

    asked = " ".join(target["expr"] for panel in dashboard["panels"] for target in panel["targets"])

    assert [metric.name for metric in METRICS if metric.name not in asked] == []
