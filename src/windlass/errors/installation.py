"""1xxx: the installation — its settings, its code, its keys."""

import errno
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from windlass.errors.base import FieldError, WindlassError
from windlass.errors.wording import counted, json_pointer, listed, quoted, sentence, shorten


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
    """The server is shutting down: it lets jobs and requests under way finish, and takes no new ones.

    `/readyz` answers so until the process has ended, for load balancers to send requests elsewhere.
    """

    code = "WL1112"

    def __init__(self) -> None:
        super().__init__(
            "this server is draining.",
            reason="It is shutting down and lets running jobs finish.",
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
