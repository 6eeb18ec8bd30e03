"""The keys of `windlass dev`."""

import os
import sys
from collections.abc import Callable, Mapping
from typing import Protocol

from windlass.cli.dev.terminal import Terminal

#: The keys in the greeting, and in the help of `?`.
KEYS = "o open · e enqueue · t top · c clear · q quit"
_HELP = (
    "  o  open the page in the browser, signed in",
    "  e  enqueue a job",
    "  t  top: queues, workers and jobs, full-screen; q comes back here",
    "  c  clear the screen",
    "  q  quit, as Ctrl-C: running jobs finish; once more, they are handed back",
)


class SupervisorControl(Protocol):
    """The supervisor, as the keys use it."""

    @property
    def stopping(self) -> bool: ...
    @property
    def facts(self) -> dict[str, str] | None: ...
    def stop(self) -> None: ...
    def order(self, word: str, *, all: bool = False) -> None: ...
    def say(self, text: str) -> None: ...


class Keys:
    def __init__(self, supervisor: SupervisorControl, terminal: Terminal) -> None:
        self._supervisor = supervisor
        self._terminal = terminal
        self._end_handled = False
        self.resumed = terminal.resumed
        self.listens = terminal.listens
        self._actions: Mapping[str, Callable[[], None]] = {
            "o": self._open,
            "e": self._enqueue,
            "t": self._top,
            "c": terminal.clear,
            "q": supervisor.stop,
            "?": self._help,
            "h": self._help,
        }

    def fileno(self) -> int:
        return self._terminal.number

    def handle_keys(self) -> None:
        """Handle the keys pressed since the last call."""
        terminal = self._terminal
        if terminal.is_back() and not terminal.closed:
            self._supervisor.order("speak", all=True)
            terminal.output.show_held()
        for key in terminal.pressed():
            # Drop keys typed ahead for another program; while stopping, only a faster stop counts.
            if not terminal.lent and (key == "q" or not self._supervisor.stopping):
                self._actions.get(key, lambda: None)()
        if terminal.closed and not self._end_handled:
            self._end_handled = True
            self._supervisor.order("hush", all=True)
            self._supervisor.stop()

    def _open(self) -> None:
        if self._running_facts() is not None:
            self._supervisor.order("open")

    def _enqueue(self) -> None:
        if (facts := self._running_facts()) is not None:
            example = facts.get("example", "")
            self._lend(facts, "-m", "windlass.cli.dev.enqueue_prompt", example)

    def _top(self) -> None:
        if (facts := self._running_facts()) is not None:
            self._lend(facts, "-m", "windlass.cli", "top")

    def _help(self) -> None:
        for line in _HELP:
            self._supervisor.say(line)

    def _running_facts(self) -> dict[str, str] | None:
        if self._supervisor.facts is None:
            self._supervisor.say("No code runs yet: save one that can be imported.")
        return self._supervisor.facts

    def _lend(self, facts: Mapping[str, str], *command: str) -> None:
        # In the environment: the address may hold a password, and other users can see command lines.
        dropped = ("WINDLASS_URL", "WINDLASS_CONTEXT")
        environ = {name: text for name, text in os.environ.items() if name not in dropped}
        environ["WINDLASS_DATABASE_URL"] = facts["database"]
        self._terminal.lend([sys.executable, *command], environ)
        self._supervisor.order("hush", all=True)
