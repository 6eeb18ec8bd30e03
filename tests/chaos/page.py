"""Writes the figures of chaos runs into `docs/explain/reliability.md`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "explain" / "reliability.md"
RESULTS = Path(__file__).parent / "results"
BEGIN, END = "<!-- figures of make chaos -->", "<!-- end of figures -->"

Figures = Mapping[str, Any]


def keep(found: Figures, *, results: Path = RESULTS, page: Path = PAGE) -> None:
    """Keep the figures of a run in place of an earlier one of its set-up, and renew the page."""
    results.mkdir(exist_ok=True)
    (results / f"{found['setup']}.json").write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    runs = [json.loads(file.read_text("utf-8")) for file in sorted(results.glob("*.json"))]
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n\n{tables(runs)}\n\n{END}{after}", "utf-8")


def tables(runs: Sequence[Figures]) -> str:
    """What was counted, what was violated, and how soon work went on, a column for each run."""
    head = ["", *(f"{run['setup']}, seed {run['seed']}" for run in runs)]
    counted = [
        ["jobs acknowledged", *(f"{run['jobs']:,}" for run in runs)],
        ["runs started", *(f"{run['runs']:,}" for run in runs)],
        ["attempts lost", *(f"{run['outcomes'].get('lost', 0):,}" for run in runs)],
        ["seconds", *(str(run["seconds"]) for run in runs)],
        ["lease, seconds", *(str(run["lease_seconds"]) for run in runs)],
    ]
    return "\n\n".join(
        [
            _table([head, *counted]),
            "Violations:",
            _table([head, *_rows(runs, "violations")]),
            "Faults injected:",
            _table([head, *_rows(runs, "faults")]),
            "Seconds until work went on, median and most:",
            _table([head, *_rows(runs, "recovery")]),
        ]
    )


def _rows(runs: Sequence[Figures], part: str) -> list[list[str]]:
    names = dict.fromkeys(name for run in runs for name in run[part])
    return [[name, *(_cell(run[part].get(name)) for run in runs)] for name in names]


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value['median']}, {value['most']}" if isinstance(value, Mapping) else str(value)


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *others = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *others])
