"""`python -m benchmarks [NAME …]`: runs the benchmarks, stores the results, writes the page."""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.asking import ask, told
from benchmarks.findings import RESULTS
from benchmarks.page import write
from benchmarks.peers import Peers
from benchmarks.questions import NAMES
from benchmarks.stage import Stage


def main() -> None:
    asked = _arguments()
    names = [] if asked.names == ["page"] else asked.names or list(NAMES)
    folder = asked.results or RESULTS
    failed = []
    with Stage(rounds=asked.rounds, toy=asked.toy, peers=Peers(wanted=not asked.no_peers)) as stage:
        for name in names:
            began = time.monotonic()
            try:
                answer = ask(name, stage)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                # The others are worth asking all the same; an old answer would mislead.
                print(f"{name} failed: {error}", file=sys.stderr)
                (folder / f"{name}.json").unlink(missing_ok=True)
                failed.append(name)
                continue
            print(f"{told(answer)}\n  ({name} took {time.monotonic() - began:.0f} s)", flush=True)
            if asked.results or not asked.toy:
                answer.save(folder)
    if not asked.toy:
        write(folder)
    if failed:
        raise SystemExit(f"without an answer: {', '.join(failed)}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(NAMES)}; or `page`; default: all")
    parser.add_argument("--rounds", type=int, default=5, help="how often sides alternate")
    parser.add_argument("--toy", action="store_true", help="a few jobs, one round, nothing kept")
    parser.add_argument("--no-peers", action="store_true", help="ours alone")
    parser.add_argument("--results", type=Path, help="where the figures are kept")
    return parser.parse_args()


if __name__ == "__main__":
    main()
