"""1xxx: the installation — its database, its settings, its code."""

import errno
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from windlass.errors.base import FieldError, WindlassError
from windlass.errors.wording import (
    address,
    counted,
    json_pointer,
    listed,
    quoted,
    sentence,
    shorten,
)


class DatabaseOutage(WindlassError):
    """The database cannot do now what it was asked to, whatever that was.

    It says nothing about the job, schedule or event that was asked about: that stays as it is, and
    the same call may succeed later. The classes below say what is wrong.
    """


class DatabaseUnreachable(DatabaseOutage):
    """Nobody answers at the database's address.

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

    Nothing of the call was stored. Reading goes on; workers keep what they could not record, try
    again, and go on by themselves once there is room.
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
    written. Nothing of the call was stored. Workers keep what they could not record, and go on by
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
    """What the database has stored cannot be read.

    A file is damaged, or is no database. Nothing of the call was stored. Workers keep what they
    could not record, and go on once the database is whole again.
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
            hint="Its own log tells more; `windlass doctor` looks at it from here.",
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


def _who_listens(port: int) -> str:
    """A command that shows which process listens at a port."""
    return f"`ss -ltnp 'sport = :{port}'`" if sys.platform == "linux" else f"`lsof -i :{port}`"


class PortUnavailable(WindlassError):
    """Windlass cannot listen at a host and port: another program does, or the system forbids it.

    `option` is the flag or setting that names the port.
    """

    code = "WL1111"

    def __init__(self, host: str, port: int, *, cause: OSError, option: str = "--port") -> None:
        self.host = host
        self.port = port
        taken = cause.errno == errno.EADDRINUSE
        super().__init__(
            f"cannot listen at {host}, port {port}.",
            reason="Another program listens there."
            if taken
            else sentence(shorten(cause.strerror or str(cause))),
            hint=f"Give another {option}, or find the program: {_who_listens(port)}."
            if taken
            else f"Give another {option}, or another host: an address of this machine.",
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

    Nothing goes on without it: who asked for a second wall between tenants should not be left with one.
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


@dataclass(frozen=True, slots=True)
class SettingProblem:
    """One setting that cannot be used. `value` is as it may be shown: secrets are masked."""

    key: str
    value: str
    allowed: str
    origin: str

    def __str__(self) -> str:
        return f"{self.key} = {self.value} ({self.origin}): {self.allowed}"


class SettingsInvalid(WindlassError):
    """Some settings cannot be used. All problems are listed, not only the first."""

    code = "WL1301"

    def __init__(self, problems: Sequence[SettingProblem]) -> None:
        self.problems = tuple(problems)
        settings = counted(len(self.problems), "setting")
        super().__init__(
            f"{settings} cannot be used.",
            reason="; ".join(map(str, self.problems)) + ".",
            hint="Every value and where it comes from: `windlass config show --origin`.",
            errors=[
                FieldError(
                    json_pointer(problem.key.split(".")), f"{problem.value}: {problem.allowed}"
                )
                for problem in self.problems
            ],
        )


class ModuleNotLoaded(WindlassError):
    """A module that should declare jobs cannot be imported."""

    code = "WL1401"

    def __init__(self, module: str, *, cause: str) -> None:
        self.module = module
        super().__init__(
            f"the module {quoted(module)} cannot be imported.",
            reason=sentence(shorten(cause)),
            hint="Run with --debug for the traceback; a file is given as path/to/jobs.py, "
            "a module as package.jobs.",
        )


class AppNotFound(WindlassError):
    """No Windlass app was found: the modules given hold none at their top level, or no module was
    given and none could be found."""

    code = "WL1402"

    def __init__(self, modules: Sequence[str]) -> None:
        self.modules = tuple(modules)
        super().__init__(
            f"no Windlass app in {listed([quoted(name) for name in modules])}."
            if modules
            else "no module with jobs was given or found.",
            reason="An app is made at the top level of a module: wl = Windlass()."
            if modules
            else "Looked for the setting `modules`, then jobs.py, then files that make a Windlass().",
            hint="Name the module that declares your jobs, such as `windlass dev jobs.py`.",
        )


class ServerDraining(WindlassError):
    """The server was told to end: it lets jobs and requests under way finish, and takes no new ones.

    `/readyz` answers so until the process has ended, for load balancers to send requests elsewhere.
    """

    code = "WL1112"

    def __init__(self) -> None:
        super().__init__(
            "this server is draining.",
            reason="It was told to end and lets running jobs finish.",
            hint="Send requests to another server; this one ends by itself.",
        )


class MainGuardMissing(WindlassError):
    """A script that declares a process-isolated job does its work when it is imported.

    The child process of a job imports the script to find its handler. What stands at the top level of
    the script would be done again in each child: jobs enqueued, a worker started. It was refused,
    and the job is not tried again.
    """

    code = "WL1403"

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"{quoted(name)} uses Windlass while it is imported by a job's process.",
            reason='A job with isolation="process" imports the program that declares it.',
            hint='Put what the program does under `if __name__ == "__main__":`, '
            "or declare the job in a module of its own.",
        )


class AuditKeyMissing(WindlassError):
    """An audit chain is signed, and this process has no key that its signature was made with.

    To add to the chain without the key would make it look cut off. Nothing was stored.
    """

    code = "WL1521"

    def __init__(self, tenant: str | None) -> None:
        self.tenant = tenant
        whose = "of the installation" if tenant is None else f"of tenant {tenant}"
        super().__init__(
            f"the audit chain {whose} is signed with a key that this process does not have.",
            hint="Set WINDLASS_AUDIT_KEY, or audit.key_file, to the key that servers and workers "
            "use.",
        )


class AuditKeyInvalid(WindlassError):
    """The key that signs audit chains is needed and there is none, or its file cannot be used."""

    code = "WL1522"

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(
            f"the audit key cannot be used: {problem}.",
            hint="Give audit.key 32 or more random characters, or name in audit.key_file a file "
            "that has them as its first line.",
        )


class RunAsUnavailable(WindlassError):
    """A command has to run as a user that this worker cannot run it as.

    There is no such user on the worker's machine, or the worker does not run as root.
    """

    code = "WL1523"

    def __init__(self, run_as: str, problem: str) -> None:
        self.run_as = run_as
        super().__init__(
            f"no command can run as {quoted(run_as)} here.",
            reason=sentence(problem),
            hint="Start the worker as root, or change run_as of the command or "
            "command_run_as in the settings.",
        )


class ExtraMissing(WindlassError):
    """A package that an optional part of Windlass needs is not installed."""

    code = "WL1501"

    def __init__(self, package: str, *, extra: str, what: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"{what} is not installed.",
            reason=f"It needs the package {package}.",
            hint=f'pip install "windlass[{extra}]"',
        )


class EncryptionKeyInvalid(WindlassError):
    """A key to encrypt payloads with is not one, or its file cannot be read."""

    code = "WL1510"

    def __init__(self, origin: str, *, because: str) -> None:
        self.origin = origin
        super().__init__(
            f"the encryption key in {origin} cannot be used.",
            reason=sentence(because),
            hint="`windlass config generate-key` makes a key.",
        )
