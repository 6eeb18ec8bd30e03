"""The job `logs.cleanup`."""

from datetime import timedelta
from fnmatch import fnmatch
from typing import Annotated

from pydantic import Field

from windlass import clock
from windlass.library.data.directories import check_directory, files_beneath
from windlass.library.data.expiry import delete_expired
from windlass.library.data.source import Source
from windlass.library.data.tables import ExpiringRows
from windlass.worker.context import JobContext

_LOG_FILES = ("*.log", "*.log.*", "*.log-*")


class LogJobs:
    """The handler, for log files beneath a directory and a table of audit logs."""

    def __init__(self, directory: str, audit_logs: ExpiringRows | None, source: Source) -> None:
        self._directory = directory
        self._audit_logs = audit_logs
        self._source = source

    def cleanup(
        self, ctx: JobContext, days: Annotated[int, Field(ge=1, le=36_500)] = 30
    ) -> dict[str, int]:
        """Remove log files that nothing was written to for `days`, and audit logs that are older. A
        file that cannot be removed is a warning."""
        check_directory(self._directory, setting="library.log_directory")
        before = clock.utcnow().timestamp() - timedelta(days=days).total_seconds()
        gone = 0
        for file in files_beneath(self._directory):
            ctx.checkpoint()
            if file.changed_at >= before or not _is_log(file.path):
                continue
            try:
                gone += file.remove()
            except OSError as error:
                ctx.warn(f"{file.path} stays: {error.strerror}")
        text = f"removed {gone:,} log files"
        ctx.log.info(text)
        ctx.progress(0.5, text)
        rows = {} if self._audit_logs is None else {"audit_logs": self._audit_logs}
        return {
            "files": gone,
            **delete_expired(ctx, self._source, rows, age=timedelta(days=days)),
        }


def _is_log(path: str) -> bool:
    return any(fnmatch(path.rpartition("/")[2], pattern) for pattern in _LOG_FILES)
