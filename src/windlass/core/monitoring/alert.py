"""Alert about a group of dead letters: the text for mail and webhook, with secrets hidden."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from windlass.core.jobs.dead import DEAD_LETTERED, DeadGroup
from windlass.core.payloads.redact import Redactor
from windlass.core.text import clean
from windlass.core.wire import instant

#: The event of a test, as a webhook receives it.
TESTED = "windlass.notification.test"
_ERROR_BYTES = 2_000
_SUBJECT = 200


class Notification(Protocol):
    """A message to a receiver, as mail and webhook send it."""

    @property
    def id(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def body(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TestMessage:
    """A message that only proves that a receiver gets messages."""

    at: datetime
    actor: str
    environment: str

    @property
    def id(self) -> str:
        return f"test/{instant(self.at)}"

    @property
    def subject(self) -> str:
        where = f" {self.environment}" if self.environment else ""
        return f"[windlass{where}] Test of notifications"

    @property
    def text(self) -> str:
        return (
            f"{self.actor} sent this at {instant(self.at)} to test notifications. Nothing failed.\n"
        )

    @property
    def body(self) -> Mapping[str, Any]:
        return {
            "event": TESTED,
            "environment": self.environment,
            "actor": self.actor,
            "at": instant(self.at),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertMessage:
    """A group of dead-lettered jobs with the same cause, as a receiver gets it."""

    definition: str
    fingerprint: str
    cause: str
    jobs: int
    tenants: int
    first_at: datetime
    last_at: datetime
    job_id: str
    error: str

    @classmethod
    def of(cls, group: DeadGroup, error: str | None, redactor: Redactor) -> "AlertMessage":
        """The message about a group; `error` is that of its newest job."""
        return cls(
            definition=str(group.definition),
            fingerprint=group.fingerprint,
            cause=redactor.redact_text(group.sentence),
            jobs=group.count,
            tenants=group.tenants,
            first_at=group.first_at,
            last_at=group.last_at,
            job_id=str(group.sample_id),
            error=redactor.redact_text(clean(error or "", _ERROR_BYTES)),
        )

    @property
    def id(self) -> str:
        """Id of the message; the same when it is sent again, so that a receiver can recognize it."""
        return f"{self.definition}/{self.fingerprint or 'unknown'}/{instant(self.last_at)}"

    @property
    def subject(self) -> str:
        """The message in a line."""
        whole = f"[windlass] {self.definition}: {self._count} failed for good: {self.cause}"
        line = " ".join(whole.split())
        return line if len(line) <= _SUBJECT else f"{line[: _SUBJECT - 1]}…"

    @property
    def text(self) -> str:
        """The message as a mail says it."""
        return "\n".join(
            [
                f"{self._count} of {self.definition} failed for good, for the same cause:",
                "",
                f"    {' '.join(self.cause.split())}",
                "",
                f"First   {instant(self.first_at)}",
                f"Last    {instant(self.last_at)}",
                f"Tenants {self.tenants}",
                f"Newest  {self.job_id}",
                "",
                "The error of the newest job:",
                "",
                *(f"    {line}" for line in self.error.splitlines()),
                "",
                f"windlass jobs show {self.job_id}",
                f"windlass dead list --definition {self.definition}",
                "",
            ]
        )

    @property
    def body(self) -> Mapping[str, Any]:
        """The message as a webhook receives it."""
        return {
            "event": DEAD_LETTERED,
            "definition": self.definition,
            "fingerprint": self.fingerprint,
            "cause": self.cause,
            "jobs": self.jobs,
            "tenants": self.tenants,
            "first_at": instant(self.first_at),
            "last_at": instant(self.last_at),
            "job_id": self.job_id,
            "error": self.error,
        }

    @property
    def _count(self) -> str:
        return "1 job" if self.jobs == 1 else f"{self.jobs:,} jobs"
