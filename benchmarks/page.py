"""Writes `docs/explain/performance.md` and its charts from the stored results."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.charts import Bar, chart
from benchmarks.findings import Answer, Finding, load
from benchmarks.measure import ROOT, Spread
from benchmarks.words import HOW, INTRODUCTION, NOT_ASKED, REPEAT

DOCS = ROOT / "docs" / "explain"


def write(results: Path, docs: Path = DOCS) -> None:
    """Turn the kept results into the page; questions that were not asked have no rows."""
    answers = load(results)
    if not answers:
        raise SystemExit(f"no results in {results}: run `make bench` first")
    charts = _charts({answer.name: answer for answer in answers})
    for name, svg in charts.items():
        (docs / f"{name}.svg").write_text(svg, "utf-8")
    (docs / "performance.md").write_text(_page(answers, charts), "utf-8")


def _page(answers: Sequence[Answer], charts: Iterable[str]) -> str:
    found = [f for answer in answers if answer.name != "databases" for f in answer.findings]
    goals = sorted((f for f in found if f.bound), key=_place)
    others = [f for f in found if not f.bound]
    notes = dict.fromkeys(note for answer in answers for note in answer.notes)
    parts = [
        INTRODUCTION,
        *[f"![{name.removeprefix('performance-')}]({name}.svg)" for name in charts],
        "## Against goals",
        _table(goals, goals=True),
        _met(goals),
        *notes,
        NOT_ASKED,
    ]
    if others:
        parts += ["## Also measured", _table(others, goals=False)]
    if databases := [answer for answer in answers if answer.name == "databases"]:
        parts += ["## Each database by itself", _by_database(databases[0])]
    parts += [HOW, _surroundings(answers), REPEAT]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _table(found: Sequence[Finding], *, goals: bool) -> str:
    head = ["measure", "Windlass", "other side", "ratio, median (spread)"]
    head = ["#", *head, "engine", "all", "met"] if goals else head
    rows = [head, ["---"] * len(head)]
    for finding in found:
        other = f"{finding.other}: {_figure(finding, finding.theirs)}" if finding.other else "–"
        cells = [finding.measure, _figure(finding, finding.ours), other, _spread(finding.ratio)]
        rows.append([finding.goal.split()[0], *cells, *_goal(finding)] if goals else cells)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _goal(finding: Finding) -> list[str]:
    goal = finding.bound
    assert goal is not None
    engine, all_ = (
        "–" if limit is None else f"{goal.bound} {limit:g}" for limit in (goal.engine, goal.all)
    )
    if goal.met_by(finding.value, goal.all):
        return [engine, all_, "all"]
    return [engine, all_, "engine" if goal.met_by(finding.value, goal.engine) else "**no**"]


def _met(found: Sequence[Finding]) -> str:
    words = [_goal(finding)[2] for finding in found]
    return (
        f"Of {len(found)} rows, {words.count('all')} meet the far goal (*all*), "
        f"{words.count('engine')} the near one (*engine*), and {words.count('**no**')} neither."
    )


def _by_database(answer: Answer) -> str:
    rows: dict[str, dict[str, str]] = {}
    for finding in answer.findings:
        measure, _, database = finding.measure.rpartition(", ")
        rows.setdefault(measure, {})[database] = _figure(finding, finding.ours)
    names = list(next(iter(rows.values())))
    lines = [["measure", *names], ["---"] * (len(names) + 1)]
    lines += [[measure, *[row[name] for name in names]] for measure, row in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _surroundings(answers: Sequence[Answer]) -> str:
    versions = {name: text for answer in answers for name, text in answer.versions.items()}
    listed = ", ".join(f"{name} {text}" for name, text in versions.items())
    rounds = {f.ours.rounds for answer in answers for f in answer.findings}
    cores = max(answer.cores for answer in answers)
    few = f"{min(rounds)}" if len(rounds) == 1 else f"{min(rounds)} to {max(rounds)}"
    return f"Here: {cores} cores, {few} rounds; {listed}."


def _charts(answers: dict[str, Answer]) -> dict[str, str]:
    drawn: dict[str, list[Bar]] = {
        "performance-drain": _drain_bars(answers.get("drain")),
        "performance-flat": _flat_bars(answers),
        "performance-pickup": _pickup_bars(answers.get("pickup")),
    }
    titles = {
        "performance-drain": "Drain, one process, no-op jobs (PgQueuer = 1; more is better)",
        "performance-flat": "Drain beside what piles up (without it = 1; the line is no loss)",
        "performance-pickup": "Pick-up by an idle worker (milliseconds; less is better)",
    }
    lines = {"performance-flat": 1.0}
    return {
        name: chart(titles[name], bars, line=lines.get(name))
        for name, bars in drawn.items()
        if bars
    }


def _drain_bars(answer: Answer | None) -> list[Bar]:
    found = [f for f in answer.findings if f.unit == "jobs/s" and f.ratio] if answer else []
    base = next((f.ratio.median for f in found if f.ratio and f.goal == "P1"), None)
    if base is None:
        return []
    others = [Bar(f.other, base / f.ratio.median, ours=False) for f in found if f.ratio]
    return [Bar("Windlass", base), *others]


def _flat_bars(answers: dict[str, Answer]) -> list[Bar]:
    found = [
        finding
        for name in ("growth", "tenants", "unclaimable", "pinned")
        for finding in (answers[name].findings if name in answers else ())
        if finding.ratio
    ]
    return [Bar(_short(f.measure), f.ratio.median) for f in found if f.ratio]


def _pickup_bars(answer: Answer | None) -> list[Bar]:
    bars: list[Bar] = []
    for part in ("p50", "p99"):
        found = [f for f in answer.findings if f.measure.endswith(part)] if answer else []
        peers = [f for f in found if f.theirs and f.other != "best Python peer"]
        if found:
            bars.append(Bar(f"Windlass, {part}", found[0].ours.median))
        bars += [Bar(f"{f.other}, {part}", f.theirs.median, ours=False) for f in peers if f.theirs]
    return bars


def _short(measure: str) -> str:
    return (
        measure.removeprefix("drain").lstrip(", ").removeprefix("after 200k jobs under a ")
    ).replace("of a definition this worker does not know", "of an unknown definition")


def _place(finding: Finding) -> tuple[str, int]:
    goal = finding.goal.split()[0]
    return goal[0], int(goal[1:])


def _figure(finding: Finding, figures: Spread | None) -> str:
    if figures is None:
        return "–"
    value = figures.median
    text = f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"
    return f"{text} {finding.unit}".strip()


def _spread(ratio: Spread | None) -> str:
    return f"**{ratio.median:.2f}** ({ratio.low:.2f}–{ratio.high:.2f})" if ratio else "–"
