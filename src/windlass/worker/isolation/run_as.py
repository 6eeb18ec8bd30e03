"""`run_as`: the user of a command, a name, a uid or `uid:gid`, resolved on the worker's machine."""

import os
import pwd
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from windlass.errors import RunAsUnavailable
from windlass.worker.handlers import Handler

_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}|\d{1,10}(:\d{1,10})?")
_LARGEST_ID = 2**32 - 2  # the one above means "leave it as it is"


@dataclass(frozen=True, slots=True)
class RunAsUser:
    """The ids that a process changes to, and the matching environment variables."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    name: str
    home: str

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": self.home, "USER": self.name, "LOGNAME": self.name}

    @property
    def order(self) -> dict[str, Any]:
        return asdict(self)


def is_user(text: object) -> bool:
    """True if a text can name a user; only the worker's machine knows whether it exists."""
    return isinstance(text, str) and _USER.fullmatch(text) is not None


def resolve_run_as(run_as: str) -> RunAsUser:
    """Resolve the user that a process must change to. RunAsUnavailable if there is no such user, or
    if this process may not change its user: only root may."""
    found = _lookup(run_as)
    own = (os.geteuid(), os.getegid()) == (found.uid, found.gid)
    if os.geteuid() != 0 and not own:
        raise RunAsUnavailable(run_as, "only a worker that runs as root can change the user")
    return found


def check_run_as(handlers: Iterable[Handler]) -> None:
    """Raise RunAsUnavailable for the first command that cannot run here as it should."""
    for handler in handlers:
        if handler.command is not None and handler.command.run_as is not None:
            resolve_run_as(handler.command.run_as)


def _lookup(run_as: str) -> RunAsUser:
    if not is_user(run_as):
        raise RunAsUnavailable(run_as, "that is neither the name of a user, nor a uid, nor uid:gid")
    name, _, group = run_as.partition(":")
    try:
        user = pwd.getpwuid(_id(run_as, name)) if name.isdecimal() else pwd.getpwnam(name)
    except KeyError:
        if not group:
            hint = "; give uid:gid for one without an account" if name.isdecimal() else ""
            raise RunAsUnavailable(run_as, f"there is no such user here{hint}") from None
        return RunAsUser(_id(run_as, name), _id(run_as, group), (_id(run_as, group),), name, "/")
    if group:
        gid = _id(run_as, group)
        return RunAsUser(user.pw_uid, gid, (gid,), user.pw_name, user.pw_dir)
    groups = tuple(os.getgrouplist(user.pw_name, user.pw_gid))
    return RunAsUser(user.pw_uid, user.pw_gid, groups, user.pw_name, user.pw_dir)


def _id(run_as: str, digits: str) -> int:
    if int(digits) > _LARGEST_ID:
        raise RunAsUnavailable(run_as, f"{digits} is too large for an id")
    return int(digits)
