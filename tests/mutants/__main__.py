"""Plants each bug of the tables, runs the tests that should notice it, and reports.

    python -m tests.databases run -- python -m tests.mutants [words of the names to run]

Fails if a bug survives its tests, if a table no longer fits the source, or if the tests are red
without any bug.
"""

import re
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.databases.kinds import requested_kinds
from tests.mutants.copies import Finished, SourceCopy
from tests.mutants.mutant import Mutant, MutantOutdated
from tests.mutants.table import MUTANTS

_AT_A_TIME = 2
_SECONDS = 300.0
_TESTS_FAILED = 1
#: A bug must be wrong, not unreadable: then every test would notice it.
_UNREADABLE = re.compile(
    r"SyntaxError|syntax error|ProgrammingError|near \".*\": |NameError|no such column"
    r"|UndefinedColumnError|Unknown column"
)
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Report:
    """What became of one mutant. `problem` is None if it was noticed."""

    name: str
    seconds: float
    noticed_by: str = ""
    problem: str | None = None
    output: str = ""


def main(words: Sequence[str]) -> int:
    chosen = [
        mutant
        for mutant in MUTANTS
        if mutant.kind in requested_kinds()
        and (not words or any(word in mutant.name for word in words))
    ]
    with tempfile.TemporaryDirectory(prefix="windlass-mutants-") as folder:
        copies: SimpleQueue[SourceCopy] = SimpleQueue()
        for n in range(_AT_A_TIME):
            copies.put(SourceCopy(Path(folder, str(n))))
        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            healthy = all(
                pool.map(lambda kind: _is_healthy(copies, chosen, kind), requested_kinds())
            )
            reports = [
                _told(report, place, len(chosen))
                for place, report in enumerate(
                    pool.map(lambda mutant: _try(copies, mutant), chosen if healthy else ()), 1
                )
            ]
    noticed = sum(report.problem is None for report in reports)
    for report in reports:
        if report.problem:
            print(f"\n{report.name}: {report.problem}\n{report.output[-1500:]}")
    print(f"{noticed} of {len(chosen)} noticed")
    return 0 if healthy and noticed == len(chosen) else 1


def _is_healthy(copies: "SimpleQueue[SourceCopy]", chosen: Sequence[Mutant], kind: str) -> bool:
    """Whether the tests named for one database pass as long as there is no bug."""
    tests = sorted({test for mutant in chosen if mutant.kind == kind for test in mutant.tests})
    if not tests:
        return True
    copy = copies.get()
    try:
        finished = copy.test(tests, databases=kind, seconds=4 * _SECONDS)
    finally:
        copies.put(copy)
    if finished.code != 0:
        print(f"the tests for {kind} fail without a bug:\n{finished.output[-3000:]}")
    return finished.code == 0


def _try(copies: "SimpleQueue[SourceCopy]", mutant: Mutant) -> Report:
    began = time.monotonic()
    copy = copies.get()
    try:
        with copy.with_bug(mutant):
            finished = copy.test(mutant.tests, databases=mutant.kind, seconds=_SECONDS)
    except MutantOutdated as error:
        return Report(mutant.name, time.monotonic() - began, problem=str(error))
    finally:
        copies.put(copy)
    return _judged(mutant, finished, time.monotonic() - began)


def _judged(mutant: Mutant, finished: Finished, seconds: float) -> Report:
    if finished.code is None:
        return Report(mutant.name, seconds, noticed_by="its time was up")
    if finished.code == 0:
        return Report(mutant.name, seconds, problem="survived", output=finished.output)
    failed = _FAILED.search(finished.output)
    if "Timeout (>" in finished.output:
        return Report(mutant.name, seconds, noticed_by="a test that hung")
    if finished.code != _TESTS_FAILED or failed is None:
        problem = f"pytest ended with {finished.code}"
        return Report(mutant.name, seconds, problem=problem, output=finished.output)
    if found := _UNREADABLE.search(finished.output):
        problem = f"the changed text does not run: {found[0]}"
        return Report(mutant.name, seconds, problem=problem, output=finished.output)
    return Report(mutant.name, seconds, noticed_by=failed[1])


def _told(report: Report, place: int, count: int) -> Report:
    result = report.problem or f"noticed by {report.noticed_by}"
    print(f"[{place}/{count}] {report.name}: {result} ({report.seconds:.0f} s)", flush=True)
    return report


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
