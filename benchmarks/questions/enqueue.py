"""Enqueue one by one, by many callers, and in bulk."""

from collections.abc import Sequence

from benchmarks.findings import Finding, alone, compared
from benchmarks.stage import Stage

QUESTION = "How fast are jobs enqueued?"
SECONDS, BULK = 1.5, 40_000


def ask(stage: Stage) -> Sequence[Finding]:
    ours, peer, node = stage.migrated(), stage.pgqueuer, stage.graphile
    producer, seconds, bulk = stage.producer, stage.seconds(SECONDS), stage.jobs(BULK)
    sides = {
        "single": lambda: producer("single", ours, seconds),
        "200 callers": lambda: producer("concurrent", ours, seconds),
        "bulk": lambda: producer("bulk", ours, bulk),
    }
    if peer:
        theirs = stage.migrated(side=peer)
        sides["peer single"] = lambda: peer("enqueue_single", theirs, seconds)
        sides["peer bulk"] = lambda: peer("fill", theirs, bulk)
    if node:
        nodes = stage.migrated(side=node)
        sides["Graphile bulk"] = lambda: node("fill", nodes, bulk)
    figures = stage.alternate(sides)
    found = []
    for ours_is, theirs_is, side, goal, measure in [
        ("single", "peer single", peer, "P11", "awaited enqueue, one after the other"),
        ("200 callers", "peer single", peer, "P12", "200 callers, each awaiting its enqueue"),
        ("bulk", "Graphile bulk", node, "P13", "bulk enqueue"),
        ("bulk", "peer bulk", peer, "", "bulk enqueue"),
    ]:
        if side:
            found.append(
                compared(measure, figures[ours_is], figures[theirs_is], "per_second", "jobs/s",
                         other=f"{side.name}, {theirs_is.split()[1]}", goal=goal)
            )  # fmt: skip
        else:
            found.append(alone(measure, figures[ours_is], "per_second", "jobs/s"))
    return found
