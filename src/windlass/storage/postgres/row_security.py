"""Row security, the second wall between tenants: policies, and connections bound to a tenant.

See decision 0014.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any
from weakref import WeakKeyDictionary

from windlass.errors import RowSecurityUnavailable
from windlass.tasks import bound_tenant

#: Since this version views can run with the rights of the caller.
OLDEST = 150_000
_SAY = "select set_config('windlass.tenant', $1, false)"
#: Most tables listed in a message.
_MOST_NAMES = 5


class RowSecurity:
    """Binds each connection to the tenant of its next statements, if that has changed."""

    def __init__(self) -> None:
        self._bound_tenants: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    async def bind(self, connection: Any) -> None:
        """Bind a connection, before a transaction begins: a rollback would undo the binding."""
        tenant = bound_tenant() or ""
        if self._bound_tenants.get(connection) != tenant:
            await connection.execute(_SAY, tenant)
            self._bound_tenants[connection] = tenant


def statements(*, role: str | None = None, off: bool = False) -> str:
    """The SQL that creates the policies, or drops them. A `role` is granted what the API needs."""
    if off:
        return _script("off")
    if role is None:
        return _script("on")
    named = role.replace("'", "''")
    return f"{_script('on')}set local windlass.role = '{named}';\n{_script('grant')}"


def check_version(number: int) -> None:
    if number < OLDEST:
        raise RowSecurityUnavailable(f"it needs PostgreSQL 15 or newer, this is {number // 10_000}")


async def lacking(connection: Any, schema: str | None, *, wanted: bool) -> Sequence[str]:
    """A sentence for each reason why the policies do not bind this connection's role though
    `wanted`, or bind it though not."""
    found: Sequence[Mapping[str, Any]] = await connection.fetch(_script("lacking"), schema)
    if not found:
        return []
    first = found[0]
    passes = first["is_superuser"] or first["passes_all"] or first["owns"]
    open_tables = [row["name"] for row in found if not row["secured"]]
    if not wanted:
        if passes or len(open_tables) == len(found):
            return []
        return [
            f"row security holds the role {first['role']}, but database.row_security is off: it sees "
            "no rows. Switch it on, or connect as the owner of the tables"
        ]
    sentences = []
    if passes:
        sentences.append(
            f"database.row_security is on, but no policy holds the role {first['role']}, because it "
            f"{_because(first)}. Connect as another role; `windlass db secure --role` grants it what it needs"
        )
    if open_tables:
        more = len(open_tables) - _MOST_NAMES
        names = ", ".join(open_tables[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
        sentences.append(
            f"database.row_security is on, but there is no policy on {names}. Run `windlass db secure`"
        )
    return sentences


def _because(role: Mapping[str, Any]) -> str:
    if role["is_superuser"]:
        return "is a superuser"
    return "may bypass row security" if role["passes_all"] else "owns the tables"


def _script(name: str) -> str:
    return files(__package__).joinpath("security", f"{name}.sql").read_text("utf-8")
