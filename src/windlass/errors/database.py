"""1xxx: the database — outages, its schema, and what it cannot do."""

from windlass.errors.base import WindlassError
from windlass.errors.wording import address, counted, quoted, sentence


class DatabaseOutage(WindlassError):
    """The database cannot do now what it was asked to, whatever that was.

    It says nothing about the job, schedule or event that was asked about: that stays as it is, and
    the same call may succeed later. The classes below say what is wrong.
    """


class DatabaseUnreachable(DatabaseOutage):
    """Nothing answers at the database's address.

    The database is down, still starting, behind a firewall, or somewhere else than the URL says.
    """

    code = "WL1101"

    def __init__(self, url: str, *, cause: str = "", tries: int = 1, seconds: float = 0.0) -> None:
        self.address = address(url)
        self.tries = tries
        self.seconds = seconds
        tried = f" after {tries} tries in {seconds:.0f} s" if tries > 1 else ""
        super().__init__(
            f"cannot reach the database at {self.address}.",
            reason=sentence(f"{cause.rstrip('.') or 'it does not answer'}{tried}"),
            hint="Check that the folder exists and that WINDLASS_DATABASE_URL or --db names the file."
            if url.startswith("sqlite")
            else "Check that it runs and that WINDLASS_DATABASE_URL or --db is right, "
            "then `windlass doctor`.",
        )


class DatabaseFull(DatabaseUnreachable):
    """The database has no room left to write.

    Nothing of the call was stored. Reading still works; workers keep what they could not record, try
    again, and continue by themselves once there is room.
    """

    code = "WL1105"

    def __init__(self, url: str, *, cause: str = "") -> None:
        self.address = address(url)
        WindlassError.__init__(
            self,
            f"the database at {self.address} has no room left.",
            reason=sentence(f"{cause.rstrip('.') or 'its disk is full'}; nothing was stored"),
            hint="Free or add space on its disk; workers continue by themselves then.",
        )


class DatabaseReadOnly(DatabaseUnreachable):
    """The database takes no writes.

    It is a replica, was made read-only by an operator or a full disk, or its file may not be
    written. Nothing of the call was stored. Workers keep what they could not record, and continue by
    themselves, over new connections, once it can be written.
    """

    code = "WL1106"

    def __init__(self, url: str, *, cause: str = "") -> None:
        self.address = address(url)
        WindlassError.__init__(
            self,
            f"the database at {self.address} is read-only.",
            reason=sentence(f"{cause.rstrip('.') or 'it takes no writes'}; nothing was stored"),
            hint="Make it writable, or point WINDLASS_DATABASE_URL at the primary; workers continue "
            "by themselves then.",
        )


class DatabaseAccessDenied(DatabaseUnreachable):
    """The database does not let this account in, or not do what Windlass needs.

    The user, the password, the name of the database or the account's rights are wrong. A process
    ends with this at its start; one that has worked before tries again.
    """

    code = "WL1107"

    def __init__(self, url: str, *, cause: str = "") -> None:
        self.address = address(url)
        WindlassError.__init__(
            self,
            f"the database at {self.address} refuses this account.",
            reason=sentence(cause or "it may not do this"),
            hint="Check user, password and database name in WINDLASS_DATABASE_URL, and the "
            "account's rights.",
        )


class DatabaseDamaged(DatabaseUnreachable):
    """The stored data cannot be read.

    A file is damaged, or is no database. Nothing of the call was stored. Workers keep what they
    could not record, and continue once the database is whole again.
    """

    code = "WL1108"

    def __init__(self, url: str, *, cause: str = "") -> None:
        self.address = address(url)
        WindlassError.__init__(
            self,
            f"the database at {self.address} is damaged.",
            reason=sentence(cause or "it cannot be read"),
            hint="Check that the URL names the right file. If it does: stop what writes to it, copy it "
            "as it is, then check it (SQLite: pragma integrity_check) or restore a backup.",
        )


class DatabaseNotReady(DatabaseUnreachable):
    """The database answers, and cannot do what it was asked.

    It is starting up, recovering, or short of memory or connections; or something in it is not as
    Windlass needs it. Nothing of the call was stored, and it is tried again.
    """

    code = "WL1109"

    def __init__(self, url: str, *, cause: str = "") -> None:
        self.address = address(url)
        WindlassError.__init__(
            self,
            f"the database at {self.address} is not ready.",
            reason=sentence(cause or "it could not do what it was asked"),
            hint="See the database's own log; `windlass doctor` checks it from here.",
        )


class DatabaseNotFound(WindlassError):
    """There is no database file to read.

    A command that only reads creates none. The first command that stores something does.
    """

    code = "WL1113"

    def __init__(self, url: str) -> None:
        self.address = address(url)
        super().__init__(
            f"there is no database at {self.address}.",
            reason="A command that only reads creates none.",
            hint="Name another by --db or WINDLASS_DATABASE_URL, or start here with `windlass dev`.",
        )


class DatabaseTimeout(DatabaseOutage):
    """The database took longer than a call may take.

    It is overloaded, or something holds a lock. Whether the call took effect is unknown; what
    Windlass repeats is safe to repeat.
    """

    code = "WL1102"

    def __init__(self, doing: str, *, seconds: float) -> None:
        self.doing = doing
        self.seconds = seconds
        super().__init__(
            f"the database did not answer within {seconds:g} s.",
            reason=f"It was asked to {doing}.",
            hint="Look for long transactions and locks; `windlass doctor` lists them.",
        )


class UnsupportedDatabase(WindlassError):
    """The URL names no database Windlass knows, or the driver for it is not installed."""

    code = "WL1103"

    def __init__(
        self, scheme: str, *, missing: str | None = None, extra: str | None = None
    ) -> None:
        self.scheme = scheme
        self.missing = missing
        if missing is not None:
            super().__init__(
                f"the driver for {scheme}:// is not installed.",
                reason=f"It needs the package {missing}.",
                hint=f'pip install "windlass[{extra}]"' if extra else f"pip install {missing}",
            )
        else:
            super().__init__(
                f"{quoted(scheme)} is no database Windlass knows.",
                reason="Known are sqlite, postgresql, mariadb and mysql.",
                hint="Write the URL like sqlite:///windlass.db or postgresql://user@host/name.",
            )


class RowSecurityUnavailable(WindlassError):
    """`database.row_security` is on where the database cannot keep it.

    Windlass does not start without it: the operator asked for a second check between tenants.
    """

    code = "WL1104"

    def __init__(self, cause: str) -> None:
        super().__init__(
            "row security is not available here.",
            reason=sentence(cause),
            hint="Switch `database.row_security` off, or see docs/explain/access.md.",
        )


class SchemaOutdated(WindlassError):
    """The tables in the database are older than this Windlass."""

    code = "WL1203"

    def __init__(self, found: int, needed: int) -> None:
        self.found = found
        self.needed = needed
        pending = needed - found
        super().__init__(
            f"the database schema is at version {found}, this Windlass needs {needed}.",
            reason=f"{counted(pending, 'migration')} {'is' if pending == 1 else 'are'} pending.",
            hint="`windlass db migrate` (preview: `windlass db sql`). "
            "Workers refuse to start until then.",
        )


class SchemaTooNew(WindlassError):
    """A newer Windlass has migrated this database beyond what this one can work with."""

    code = "WL1204"

    def __init__(self, found: int, known: int) -> None:
        self.found = found
        self.known = known
        super().__init__(
            f"the database schema is at version {found}, this Windlass knows up to {known}.",
            reason="A newer Windlass has migrated it.",
            hint="Upgrade this process: pip install --upgrade windlass.",
        )


class MigrationChanged(WindlassError):
    """A migration that was applied to this database differs from the one installed here."""

    code = "WL1205"

    def __init__(self, name: str, *, applied: str, installed: str) -> None:
        self.name = name
        self.applied = applied
        self.installed = installed
        super().__init__(
            f"migration {name} is not the one that was applied to this database.",
            reason=f"Its checksum is {installed[:12]}, applied was {applied[:12]}.",
            hint="Install the Windlass that migrated it; never edit a migration that has run.",
        )


class EpochChanged(WindlassError):
    """The database was restored from a backup, or a replica was promoted, while a worker ran.

    What the worker had leased was handed back. It stops, and records nothing of what it ran.
    """

    code = "WL1206"

    def __init__(self) -> None:
        super().__init__(
            "the database was restored or promoted while this worker ran.",
            reason="Its jobs were handed back and run again; what it still ran was stopped.",
            hint="Start the worker again. What to do after a restore: docs/operate/backup.md.",
        )
