"""A planted bug: the text to replace, and the tests that should notice."""

from dataclasses import dataclass
from pathlib import Path

from tests.databases.kinds import Kind

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "src/windlass"

#: The database whose own file is changed; any other file is tested on SQLite.
_KINDS: dict[str, Kind] = {
    "storage/postgres/": "postgresql",
    "storage/mysql/": "mariadb",
}


class MutantOutdated(Exception):
    """The text to replace does not occur as often as the table says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One bug. `old` occurs exactly `times` in `file` (below `src/windlass`); all become `new`.
    Texts that have to change with it, each there once, are in `also`, as (old, new)."""

    name: str
    file: str
    old: str
    new: str
    #: Test files or test functions, of which at least one must fail.
    tests: tuple[str, ...]
    times: int = 1
    also: tuple[tuple[str, str], ...] = ()
    #: The database its tests run on, where the file does not say.
    database: Kind | None = None

    @property
    def kind(self) -> Kind:
        if self.database is not None:
            return self.database
        return next((k for prefix, k in _KINDS.items() if self.file.startswith(prefix)), "sqlite")

    def applied(self, text: str) -> str:
        """The file's text with the bug in it."""
        for old, new, times in (
            (self.old, self.new, self.times),
            *((*pair, 1) for pair in self.also),
        ):
            found = text.count(old)
            if found != times:
                raise MutantOutdated(f"{self.name}: expected {times} of {old!r}, found {found}")
            text = text.replace(old, new)
        return text


def source_of(mutant: Mutant, root: Path = ROOT) -> Path:
    """The file that a mutant changes."""
    return root / SOURCE / mutant.file
