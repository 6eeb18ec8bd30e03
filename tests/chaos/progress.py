"""Progress of a chaos run, read from the growing ledger."""

import time
from pathlib import Path

from tests.support.processes.ledger import Line, read_lines

Run = tuple[str, int]


class Progress:
    """Counts, and the runs that are under way; `look` reads what is new."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_bytes = 0
        self.acknowledged = self.ended = self.refused = 0
        #: Runs that have started and not ended.
        self.under_way: dict[Run, Line] = {}
        #: The last start and the last end of each job.
        self.last_start: dict[str, Line] = {}
        self.last_end: dict[str, Line] = {}
        #: When each process last did something.
        self.seen: dict[int, Line] = {}
        self.last: dict[str, Line] = {}
        self.clocks: dict[int, float] = {}
        self.acknowledged_at: list[float] = []
        self.started_at: list[float] = []

    def look(self) -> "Progress":
        lines, self._read_bytes = read_lines(self._path, self._read_bytes)
        for line in lines:
            self._take(line)
        return self

    def _take(self, line: Line) -> None:
        self.last[line["what"]] = line
        match line["what"]:
            case "acknowledged":
                self.acknowledged += sum(job["status"] == "created" for job in line["jobs"])
                self.acknowledged_at.append(line["at"])
            case "refused":
                self.refused += 1
            case "started":
                self.under_way[line["job"], line["fence"]] = line
                self.last_start[line["job"]] = line
                self.seen[line["pid"]] = line
                self.started_at.append(line["at"])
            case "ended":
                self.under_way.pop((line["job"], line["fence"]), None)
                self.last_end[line["job"]] = line
                self.ended += 1
            case "died":
                for run in [
                    r for r, start in self.under_way.items() if start["pid"] == line["died"]
                ]:
                    del self.under_way[run]
            case "ready":
                # Read soon after it was written: how far that process's clock is from ours.
                self.clocks[line["pid"]] = line.get("clock", time.time()) - time.time()
                self.seen.setdefault(line["pid"], line)

    def first_start_after(self, at: float) -> float | None:
        """When the first run after an instant began."""
        return next((start for start in self.started_at if start > at), None)
