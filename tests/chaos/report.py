"""The figures of a chaos run, as JSON and as text."""

import statistics
from collections import Counter, defaultdict
from typing import Any

from tests.chaos.checks.checker import Evidence, Verdict
from tests.chaos.run import Plan

Figures = dict[str, Any]


def figures(plan: Plan, evidence: Evidence, verdict: Verdict, seconds: float) -> Figures:
    """What a run found out."""
    faults = evidence.of("fault")
    recovered = defaultdict(list)
    for line in faults:
        if line["recovered"] is not None:
            recovered[line["kind"]].append(line["recovered"])
    return {
        "setup": plan.setup,
        "seed": plan.seed,
        "lease_seconds": plan.lease_seconds,
        "seconds": round(seconds),
        "jobs": len(evidence.acknowledged),
        "runs": len(evidence.starts),
        "outcomes": dict(Counter(evidence.outcomes.values())),
        "faults": dict(Counter(line["kind"] for line in faults)),
        "violations": {name: len(found) for name, found in verdict.violations.items()},
        "recovery": {
            kind: {"median": round(statistics.median(times), 1), "most": round(max(times), 1)}
            for kind, times in sorted(recovered.items())
        },
    }


def told(found: Figures) -> str:
    """The same for a person."""
    lines = [
        f"{found['setup']}, seed {found['seed']}: {found['jobs']} jobs and {found['runs']} runs in"
        f" {found['seconds']} s, {sum(found['faults'].values())} faults"
    ]
    for kind, times in sorted(found["faults"].items()):
        recovery = found["recovery"].get(kind)
        after = (
            f", work went on after {recovery['median']} s, {recovery['most']} s at most"
            if recovery
            else ""
        )
        lines.append(f"  {times} × {kind}{after}")
    for outcome, times in sorted(found["outcomes"].items()):
        lines.append(f"  {times} attempts {outcome}")
    for name, count in found["violations"].items():
        lines.append(f"  {name}: {count}")
    return "\n".join(lines)
