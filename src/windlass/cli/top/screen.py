"""The screen state of `windlass top`, and how keys change it. Independent of the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

Page = Literal["overview", "queues", "workers", "job", "logs", "help"]
Verb = Literal["retry", "cancel", "quit", "look"]

#: Keys that change a job, after a question.
_CHANGES: Mapping[str, Verb] = {"r": "retry", "c": "cancel"}
_STEPS = {"up": -1, "k": -1, "down": 1, "j": 1}

#: Key -> description, for the help page.
KEYS = (
    ("↑ ↓  j k", "choose a job, or scroll its log"),
    ("⏎", "open the job"),
    ("l", "its log"),
    ("r", "retry it (dead-lettered or canceled)"),
    ("c", "cancel it"),
    ("/", "filter, such as state:dead_letter definition:mail.*"),
    (":", "a command: :jobs FILTER  :dead  :queues  :workers  :q"),
    ("p", "pause or go on"),
    ("esc", "back; clears the filter"),
    ("?", "these keys"),
    ("q", "quit"),
)


#: Pages without jobs to choose from.
_WITHOUT_JOBS = ("help", "queues", "workers")
#: The commands after a colon.
COMMANDS = ("jobs", "dead", "queues", "workers", "help", "q")


class KeyAction(NamedTuple):
    """An action that a key requests on the job with the id `job`."""

    verb: Verb
    job: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """`chosen` is the id of the job under the cursor: the cursor stays on it while the list moves.
    `typing` is the filter or, after a colon, the command being typed. `asking` is the action
    that needs a yes, `note` the last message."""

    page: Page = "overview"
    cursor: int = 0
    chosen: str = ""
    job: str = ""
    scroll: int = 0
    where: str = ""
    typing: str | None = None
    prompt: Literal["/", ":"] = "/"
    asking: KeyAction | None = None
    paused: bool = False
    read_only: bool = False
    note: str = ""

    def pressed(self, key: str, ids: Sequence[str]) -> "tuple[Screen, KeyAction | None]":
        """Return the screen after a key, and the action to do; `ids` are the visible jobs."""
        here = replace(self, note="", cursor=self.place(ids))
        if here.typing is not None:
            return here._typed(key)
        if here.asking is not None:
            return replace(here, asking=None), here.asking if key == "y" else None
        if key == "q":
            return here, KeyAction("quit")
        if key == "?":
            return replace(here, page="help"), None
        if key == "p":
            return replace(here, paused=not here.paused), KeyAction("look") if here.paused else None
        if key == "esc":
            return here._back()
        if key == "/":
            return replace(here, page="overview", job="", typing=here.where, prompt="/"), None
        if key == ":":
            return replace(here, typing="", prompt=":"), None
        if key in _STEPS:
            return here._moved(_STEPS[key], ids), None
        return here._about_job(key, ids)

    def place(self, ids: Sequence[str]) -> int:
        """The cursor's position among the visible jobs."""
        if self.chosen in ids:
            return ids.index(self.chosen)
        return min(self.cursor, max(len(ids) - 1, 0))

    def _typed(self, key: str) -> "tuple[Screen, KeyAction | None]":
        text = self.typing or ""
        match key:
            case "enter" if self.prompt == ":":
                return replace(self, typing=None)._commanded(text)
            case "enter":
                return replace(self, typing=None)._listing(text)
            case "esc":
                return replace(self, typing=None), None
            case "backspace":
                return replace(self, typing=text[:-1]), None
            case _ if len(key) == 1:
                return replace(self, typing=text + key), None
        return self, None

    def _listing(self, where: str) -> "tuple[Screen, KeyAction | None]":
        jobs = replace(self, page="overview", job="", where=where.strip(), cursor=0, chosen="")
        return jobs, KeyAction("look")

    def _commanded(self, line: str) -> "tuple[Screen, KeyAction | None]":
        name, _, rest = line.strip().partition(" ")
        match name:
            case "":
                return self, None
            case "jobs":
                return self._listing(rest)
            case "dead":
                return self._listing(f"state:dead_letter {rest}")
            case "queues" | "workers" | "help":
                return replace(self, page=name, job=""), KeyAction("look")
            case "q" | "quit":
                return self, KeyAction("quit")
            case _:
                pass
        known = "  ".join(f":{each}" for each in COMMANDS)
        return replace(self, note=f"No command :{name}. There are {known}"), None

    def _back(self) -> "tuple[Screen, KeyAction | None]":
        if self.page == "logs":
            return replace(self, page="job", scroll=0), None
        if self.page != "overview":
            return replace(self, page="overview", job=""), None
        clear = replace(self, where="", cursor=0, chosen="")
        return clear, KeyAction("look") if self.where else None

    def _moved(self, step: int, ids: Sequence[str]) -> "Screen":
        if self.page == "overview":
            cursor = max(0, min(self.cursor + step, len(ids) - 1))
            return replace(self, cursor=cursor, chosen=ids[cursor] if ids else "")
        return replace(self, scroll=max(0, self.scroll - step))

    def _about_job(self, key: str, ids: Sequence[str]) -> "tuple[Screen, KeyAction | None]":
        job = self.job or (ids[self.cursor] if ids else "")
        if not job or self.page in _WITHOUT_JOBS:
            return self, None
        if key == "enter":
            return replace(self, page="job", job=job), KeyAction("look")
        if key == "l":
            return replace(self, page="logs", job=job, scroll=0), KeyAction("look")
        if key in _CHANGES and self.read_only:
            return replace(self, note="Read-only: nothing is changed here."), None
        if key in _CHANGES:
            return replace(self, asking=KeyAction(_CHANGES[key], job)), None
        return self, None
