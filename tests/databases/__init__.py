"""Real databases for the tests: SQLite files, PostgreSQL and MariaDB servers.

A test asks for the fixture `database` and runs once on each of the three, on a database
of its own with the newest schema and nothing in it. `new_database(kind)` makes one
without tables; `tests.databases.servers` starts servers a test may stop and kill.

`python -m tests.databases run -- COMMAND` has the servers ready while COMMAND runs.
"""

from tests.databases.kinds import KINDS, Database, Kind, NoDatabase, requested_kinds
from tests.databases.migrate import migrate

__all__ = ["KINDS", "Database", "Kind", "NoDatabase", "migrate", "requested_kinds"]
