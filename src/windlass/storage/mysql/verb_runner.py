"""Runs a verb on a connection: by its fast path, or by the statements of its file."""

from collections.abc import Mapping, Sequence
from typing import Any

from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.fast_paths import FAST_PATHS, READ_ONLY
from windlass.storage.mysql.script import run
from windlass.storage.sql.statements import Batch, Rows, Scripts, Statement

Params = Mapping[str, Any]


class VerbRunner:
    """Runs the verbs of one database; called in a thread."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts

    def run_alone(self, connection: MysqlConnection, verb: str, params: Params) -> Rows:
        """Run a verb in its own transaction."""
        if verb in READ_ONLY or len(self._scripts[verb]) == 1:
            return self.run_within(connection, verb, params)
        connection.begin(one_verb=True)
        try:
            result = self.run_within(connection, verb, params)
        except BaseException:
            connection.rollback()
            raise
        connection.commit()
        return result

    def run_within(self, connection: MysqlConnection, verb: str, params: Params) -> Rows:
        """Run a verb in the open transaction."""
        if fast_path := FAST_PATHS.get(verb):
            result = fast_path(connection, self._scripts, params)
            if result is not None:
                return result
        return self._run_in_parts(connection, verb, self._scripts[verb], params)

    def _run_in_parts(
        self,
        connection: MysqlConnection,
        verb: str,
        statements: Sequence[Statement],
        params: Params,
    ) -> Rows:
        """Run a script; in several parts if a batch is too long for one statement."""
        values = self._scripts.bind(params)
        long = {
            name: batch
            for name, batch in params.items()
            if isinstance(batch, Batch)
            and len(batch) > 1
            and len(values[name]) > connection.packet // 4
        }
        if not long:
            return run(connection, verb, statements, values)
        name, batch = next(iter(long.items()))
        half = len(batch) // 2
        parts = batch.take(range(half)), batch.take(range(half, len(batch)))
        return [
            row
            for part in parts
            for row in self._run_in_parts(connection, verb, statements, {**params, name: part})
        ]
