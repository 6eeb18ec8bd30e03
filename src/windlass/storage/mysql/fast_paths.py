"""The fast paths of MariaDB and MySQL: verbs that bypass the statements of their files.

See decision 0025. A fast path runs in the open transaction. It returns the verb's rows, or None,
with nothing changed, if it does not apply: then the statements of the file run.
"""

from collections.abc import Callable, Mapping
from typing import Any

from windlass.storage.mysql.claim import claim
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.enqueue import fast_enqueue
from windlass.storage.mysql.finish import fast_finish
from windlass.storage.mysql.script import run
from windlass.storage.mysql.survey import survey
from windlass.storage.sql.statements import Rows, Scripts

FastPath = Callable[[MysqlConnection, Scripts, Mapping[str, Any]], Rows | None]

#: How many of the newest log lines are searched before the full-text index.
_RECENT_LINES = 5_000


def search_recent_logs(
    connection: MysqlConnection, scripts: Scripts, params: Mapping[str, Any]
) -> Rows | None:
    """Search the newest log lines; None if they have too few with these words."""
    values = scripts.bind({**params, "look": _RECENT_LINES})
    found = run(connection, "search_recent_logs", scripts["search_recent_logs"], values)
    return found if len(found) >= params["most"] else None


FAST_PATHS: Mapping[str, FastPath] = {
    # Always apply: a later statement is built from the rows of an earlier one.
    "claim": claim,
    "survey": survey,
    # Apply to the usual case.
    "enqueue": fast_enqueue,
    "finish": fast_finish,
    "search_logs": search_recent_logs,
}
#: Verbs of several statements that need no transaction.
READ_ONLY = frozenset({"survey"})
