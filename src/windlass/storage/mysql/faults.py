"""What the server and the driver complain about, and what that means for a call."""

from pymysql.constants import CR, ER
from pymysql.err import Error, InterfaceError

from windlass.errors import DatabaseFull, DatabaseTimeout, DatabaseUnreachable, SchemaOutdated
from windlass.storage.address import Address
from windlass.storage.again import Crossed

#: Longest wait for another transaction's lock, in seconds.
LOCK_WAIT = 10

#: Two transactions met. Nothing was kept, so the whole transaction can be tried again.
_CROSSED = {
    ER.LOCK_DEADLOCK,
    ER.LOCK_WAIT_TIMEOUT,
    ER.CHECKREAD,  # a server that refuses to overwrite what a snapshot did not see
}
#: The connection is not, or no longer, to be had.
_GONE = {
    0,  # how the driver says that it has closed it
    CR.CR_CONNECTION_ERROR,
    CR.CR_CONN_HOST_ERROR,
    CR.CR_UNKNOWN_HOST,
    CR.CR_SERVER_GONE_ERROR,
    CR.CR_SERVER_LOST,
    ER.CON_COUNT_ERROR,
    ER.DBACCESS_DENIED_ERROR,
    ER.ACCESS_DENIED_ERROR,
    ER.BAD_DB_ERROR,
    ER.SERVER_SHUTDOWN,
    ER.NORMAL_SHUTDOWN,
    ER.TOO_MANY_USER_CONNECTIONS,
    ER.NEW_ABORTING_CONNECTION,
    1927,  # MariaDB: the connection was killed
    3169,  # MySQL: the session was killed
    4031,  # MySQL: disconnected because of inactivity
}
_FULL = {
    ER.DISK_FULL,
    ER.RECORD_FILE_FULL,  # the table's room
    3,  # an error of writing a file, which the temporary ones of a statement are
}
_INTERRUPTED = {
    ER.QUERY_INTERRUPTED,
    1969,  # MariaDB: max_statement_time exceeded
    3024,  # MySQL: max_execution_time exceeded
}
#: What a migration finds when it is run again after it died half way.
_ALREADY_SO = {
    ER.DUP_KEYNAME,
    1826,  # a constraint of this name exists, says MariaDB
    3822,  # ... and MySQL
}


def meaning(error: Error, address: Address) -> Exception:
    """The exception to raise for what the driver raised; often that itself."""
    code = code_of(error)
    if code == ER.LOCK_DEADLOCK:  # at once, so that a verb of several steps is tried again
        return Crossed("get past the locks of other transactions", seconds=1)
    if code in _CROSSED:
        return Crossed("get past the locks of other transactions", seconds=LOCK_WAIT)
    if code in _GONE or isinstance(error, InterfaceError):
        return DatabaseUnreachable(address.url, cause=_said(error))
    if code in _FULL:
        return DatabaseFull(address.url, cause=_said(error))
    if code == ER.NO_SUCH_TABLE:
        return SchemaOutdated(found=0, needed=1)
    if code in _INTERRUPTED:
        return DatabaseTimeout("answer a statement", seconds=0)
    return error


def already_so(error: Error) -> bool:
    """Whether a statement of a migration failed because it was run before."""
    return code_of(error) in _ALREADY_SO


def code_of(error: Error) -> int:
    """The number of an error, 0 where it has none."""
    code = error.args[0] if error.args else 0
    return code if isinstance(code, int) else 0


def _said(error: Error) -> str:
    said = str(error.args[1]) if len(error.args) > 1 else ""
    return (said.splitlines() or [""])[0] or "The connection was lost"
