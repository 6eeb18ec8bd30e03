"""Log output of long-running commands: to stderr, readable at a terminal, JSON elsewhere."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

from windlass.errors.wording import printable
from windlass.telemetry import Telemetry, escape_fields, indented, lease_fields
from windlass.worker.context import CURRENT_LEASE


def log_to_stderr(*, verbose: bool, colored: bool, quiet: bool = False) -> None:
    """Log records of Windlass, handlers and libraries to stderr, one line each.

    With `quiet`, jobs that succeed get no line. For a person: time, level, event, fields. For a
    program: JSON with the same fields.
    """
    import structlog

    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        _add_job,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderers: list[Any] = (
        [escape_fields, structlog.dev.ConsoleRenderer(colors=colored)]
        if sys.stderr.isatty()
        else [structlog.processors.JSONRenderer()]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    usual = logging.WARNING if quiet else logging.INFO
    logging.getLogger("windlass").setLevel(logging.DEBUG if verbose else usual)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


class VisibleFormatter(logging.Formatter):
    """Formats a record, escapes characters that do not print, and indents tracebacks."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging's own name
        return printable(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802  logging's own name
        return indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802  logging's own name
        return indented(super().formatStack(stack_info))


def _add_job(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add the job's identity to every record logged inside a run. Costs nothing until something is
    logged."""
    if (lease := CURRENT_LEASE.get()) is not None:
        for name, value in lease_fields(lease).items():
            event.setdefault(name, value)
    return event


def telemetry() -> Telemetry:
    """Telemetry that keeps event fields separate until they are written."""
    import structlog

    return Telemetry(structlog.stdlib.get_logger("windlass"))
