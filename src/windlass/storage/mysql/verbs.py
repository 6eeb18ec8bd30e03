"""Runs a verb on a connection: the statements of its file, or the few steps that need Python."""

from collections.abc import Mapping, Sequence
from typing import Any

from windlass.storage.mysql.claim import claim
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.enqueue import fast_enqueue
from windlass.storage.mysql.finish import fast_finish
from windlass.storage.mysql.script import run
from windlass.storage.mysql.survey import survey
from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Rows, Scripts, Statement

#: Verbs whose statements are made of what earlier ones found.
_PROGRAMS = {"claim": claim, "survey": survey}
_ONLY_LOOK = {"survey"}
#: Verbs with a short way for what is usual, by the file that has it. It answers None, with nothing
#: changed, where the long way is needed.
_PLAIN = {
    "enqueue": ("fast_enqueue", fast_enqueue),
    "finish": ("fast_finish", fast_finish),
}

Params = Mapping[str, Any]


class Verbs:
    """The verbs of one database, run in a thread."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts

    def alone(self, link: MysqlConnection, verb: str, params: Params) -> Rows:
        """Run a verb in a transaction of its own."""
        if verb in _ONLY_LOOK or len(self._scripts[verb]) == 1:
            return self.within(link, verb, params)
        link.begin(one_verb=True)
        try:
            answer = self.within(link, verb, params)
        except BaseException:
            link.rollback()
            raise
        link.commit()
        return answer

    def within(self, link: MysqlConnection, verb: str, params: Params) -> Rows:
        """Run a verb in the transaction that is open."""
        statements = self._scripts[verb]
        if program := _PROGRAMS.get(verb):
            return program(link, statements, params)
        if plain := _PLAIN.get(verb):
            name, shortly = plain
            answer = shortly(link, self._scripts[name], params)
            if answer is not None:
                return answer
        return self._in_pieces(link, verb, statements, params)

    def _in_pieces(
        self, link: MysqlConnection, verb: str, statements: Sequence[Statement], params: Params
    ) -> Rows:
        """Run a script, in several goes if a batch is longer than a statement may be."""
        values = self._scripts.bind(params)
        long = [
            name
            for name, rows in params.items()
            if name in BATCHES and len(rows) > 1 and len(values[name]) > link.packet // 4
        ]
        if not long:
            return run(link, verb, statements, values)
        name, rows = long[0], params[long[0]]
        half = len(rows) // 2
        first, second = ({**params, name: part} for part in (rows[:half], rows[half:]))
        return [
            *self._in_pieces(link, verb, statements, first),
            *self._in_pieces(link, verb, statements, second),
        ]
