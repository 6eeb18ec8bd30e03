"""Maps errors of the server and the driver to Windlass's exceptions."""

from pymysql.constants import CR, ER
from pymysql.err import DataError, Error, IntegrityError, InterfaceError

from windlass.errors import (
    DatabaseAccessDenied,
    DatabaseDamaged,
    DatabaseFull,
    DatabaseNotReady,
    DatabaseReadOnly,
    DatabaseTimeout,
    DatabaseUnreachable,
    SchemaOutdated,
)
from windlass.storage.connection.address import Address
from windlass.storage.connection.deadlock_retry import Deadlock

#: Longest wait for another transaction's lock, in seconds: shorter than any wait for the server.
LOCK_WAIT = 8

#: A conflict of two transactions. All was rolled back, so the whole transaction can be retried.
_CROSSED = {
    ER.LOCK_DEADLOCK,
    ER.LOCK_WAIT_TIMEOUT,
    ER.CHECKREAD,  # the server refuses to overwrite what a snapshot did not see
}
#: The connection cannot be opened, or was lost.
_GONE = {
    0,  # the driver has closed it
    CR.CR_CONNECTION_ERROR,
    CR.CR_CONN_HOST_ERROR,
    CR.CR_UNKNOWN_HOST,
    CR.CR_SERVER_GONE_ERROR,
    CR.CR_SERVER_LOST,
    ER.SERVER_SHUTDOWN,
    ER.NORMAL_SHUTDOWN,
    ER.NEW_ABORTING_CONNECTION,
    1927,  # MariaDB: the connection was killed
    3169,  # MySQL: the session was killed
    4031,  # MySQL: disconnected because of inactivity
}
_FULL = {
    ER.DISK_FULL,
    ER.RECORD_FILE_FULL,  # the table is full
    3,  # error writing a file, such as a temporary file of a statement
}
_READ_ONLY = {
    ER.OPEN_AS_READONLY,
    ER.READ_ONLY_TRANSACTION,
    ER.CANT_UPDATE_WITH_READLOCK,
    ER.OPTION_PREVENTS_STATEMENT,  # read_only, super_read_only
    1792,  # a transaction that only reads
    1836,  # the server is in read-only mode
}
_DENIED = {
    ER.DBACCESS_DENIED_ERROR,
    ER.ACCESS_DENIED_ERROR,
    ER.BAD_DB_ERROR,
    ER.HOST_NOT_PRIVILEGED,
    ER.TABLEACCESS_DENIED_ERROR,
    ER.COLUMNACCESS_DENIED_ERROR,
    ER.SPECIFIC_ACCESS_DENIED_ERROR,
    1698,  # access denied, without a password
    1820,  # the password must be changed
    1862,  # the password has expired
    3118,  # MySQL: the account is locked
    4151,  # ... and MariaDB
}
_DAMAGED = {
    ER.NOT_KEYFILE,
    ER.OLD_KEYFILE,
    ER.CRASHED_ON_USAGE,
    ER.CRASHED_ON_REPAIR,
    1712,  # an index is corrupted
    1877,  # a table is corrupted
    1932,  # a table is not there for its engine
}
#: The content is at fault, though neither the driver's class nor the SQLSTATE says so.
_CONTENT = {
    ER.NET_PACKET_TOO_LARGE,
    ER.TOO_BIG_ROWSIZE,
    ER.WARN_ALLOWED_PACKET_OVERFLOWED,
    ER.INVALID_CHARACTER_STRING,
    ER.TRUNCATED_WRONG_VALUE,
    1644,  # a database trigger of the installation refuses it
    3819,  # MySQL: a check constraint
    4025,  # ... and MariaDB
    *range(3140, 3159),  # MySQL: JSON
    *range(4035, 4045),  # MariaDB: JSON
    *range(4174, 4181),  # MariaDB: JSON read as a table
}
_CONTENT_CLASSES = ("21", "22", "23")
_INTERRUPTED = {
    ER.QUERY_INTERRUPTED,
    1969,  # MariaDB: max_statement_time exceeded
    3024,  # MySQL: max_execution_time exceeded
}
#: Errors of a migration that runs again after it died half way.
_ALREADY_SO = {
    ER.DUP_KEYNAME,
    1826,  # a constraint of this name exists, says MariaDB
    3822,  # ... and MySQL
}


def error_for(error: Error, address: Address) -> Exception:
    """The exception to raise for a driver's error; the error itself if the content is at fault.

    Any error not known to be the content's fault is an outage: the call is kept and retried.
    """
    code = error_code(error)
    if code == ER.LOCK_DEADLOCK:  # reported at once, so that a verb of several steps is retried
        return Deadlock("get past the locks of other transactions", seconds=1)
    if code in _CROSSED:
        return Deadlock("get past the locks of other transactions", seconds=LOCK_WAIT)
    if code == ER.NO_SUCH_TABLE:
        return SchemaOutdated(found=0, needed=1)
    if code in _INTERRUPTED:
        return DatabaseTimeout("answer a statement", seconds=0)
    for codes, kind in (
        (_READ_ONLY, DatabaseReadOnly),
        (_FULL, DatabaseFull),
        (_DENIED, DatabaseAccessDenied),
        (_DAMAGED, DatabaseDamaged),
        (_GONE, DatabaseUnreachable),
    ):
        if code in codes:
            return kind(address.url, cause=_server_message(error))
    if _is_about_content(error, code):
        return error
    if isinstance(error, InterfaceError):
        return DatabaseUnreachable(address.url, cause=_server_message(error))
    return DatabaseNotReady(address.url, cause=_server_message(error))


def _is_about_content(error: Error, code: int) -> bool:
    state = getattr(error, "sqlstate", None) or ""  # older drivers lack it
    return (
        code in _CONTENT
        or isinstance(error, DataError | IntegrityError)
        or state.startswith(_CONTENT_CLASSES)
    )


def is_already_applied(error: Error) -> bool:
    """Check if a statement of a migration failed because it was applied before."""
    return error_code(error) in _ALREADY_SO


def error_code(error: Error) -> int:
    """The number of an error, 0 if it has none."""
    code = error.args[0] if error.args else 0
    return code if isinstance(code, int) else 0


def _server_message(error: Error) -> str:
    text = str(error.args[1]) if len(error.args) > 1 else ""
    return (text.splitlines() or [""])[0] or "The connection was lost"
