"""Clean-ups of accounts: sessions, webhook deliveries, OAuth, links by mail."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from pydantic import Field

from windlass.app.windlass import Windlass
from windlass.core.triggers.schedule import Schedule, cron
from windlass.library.data.expiry import delete_expired
from windlass.library.data.source import Source
from windlass.library.data.tables import DateRule, ExpiringRows, ExpiringTable
from windlass.library.group import GroupOptions, source_of
from windlass.worker.context import JobContext
from windlass.worker.handlers import Handler

Counts = dict[str, int]

_NOW = timedelta()
_DAY = timedelta(days=1)
_EXPIRES = (DateRule(column="expires_at"),)
_SESSIONS = ExpiringTable("_ayb_sessions", _EXPIRES)
_DELIVERIES = ExpiringTable("_ayb_webhook_deliveries", (DateRule(column="created_at"),))
_TOKENS = ExpiringTable("_ayb_oauth_tokens", (*_EXPIRES, DateRule(column="revoked_at")))
_CODES = ExpiringTable(
    "_ayb_oauth_authorization_codes",
    (DateRule(column="expires_at", aged=False), DateRule(column="used_at")),
)
_LINKS = ExpiringTable("_ayb_magic_links", _EXPIRES)
_RESETS = ExpiringTable("_ayb_password_resets", _EXPIRES)


@dataclass(frozen=True, kw_only=True)
class Accounts(GroupOptions):
    """Clean-ups by the hour and by night. Each field names the rows of one kind: a table with its
    columns of dates, or any object that deletes a batch."""

    sessions: ExpiringRows = _SESSIONS
    webhook_deliveries: ExpiringRows = _DELIVERIES
    oauth_tokens: ExpiringRows = _TOKENS
    oauth_codes: ExpiringRows = _CODES
    magic_links: ExpiringRows = _LINKS
    password_resets: ExpiringRows = _RESETS

    def handlers(self, app: Windlass, source: object) -> Iterator[Handler]:
        jobs = AccountJobs(self, source_of(app, source))
        hourly = cron("0 * * * *", name="session_cleanup_hourly")
        for call, title, schedule in (
            (jobs.stale_session_cleanup, "Delete expired sessions", hourly),
            (
                jobs.webhook_delivery_prune,
                "Delete old webhook deliveries",
                cron("0 3 * * *", name="webhook_prune_daily"),
            ),
            (
                jobs.expired_oauth_cleanup,
                "Delete expired OAuth tokens and codes",
                cron("0 4 * * *", name="oauth_cleanup_daily"),
            ),
            (
                jobs.expired_auth_cleanup,
                "Delete expired links",
                cron("0 5 * * *", name="auth_cleanup_daily"),
            ),
        ):
            yield self._cleanup(app, call, title, schedule)

    def _cleanup(
        self, app: Windlass, call: Callable[..., Counts], title: str, schedule: Schedule
    ) -> Handler:
        return self.handler(
            app,
            call,
            call.__name__,
            {
                "title": title,
                "priority": "low",
                "max_attempts": 3,
                "timeout": "1h",
                "max_concurrency": 1,
                "schedule": schedule,
                "overlap": "skip",
                "idempotent": True,
            },
        )


class AccountJobs:
    """The handlers of the group, on the application's database."""

    def __init__(self, group: Accounts, source: Source) -> None:
        self._group = group
        self._source = source

    def stale_session_cleanup(self, ctx: JobContext) -> Counts:
        """Delete sessions that have expired."""
        return delete_expired(ctx, self._source, {"sessions": self._group.sessions}, age=_NOW)

    def webhook_delivery_prune(
        self, ctx: JobContext, retention_hours: Annotated[int, Field(ge=1, le=87_600)] = 168
    ) -> Counts:
        """Delete webhook deliveries that are older than `retention_hours`."""
        kinds = {"deliveries": self._group.webhook_deliveries}
        return delete_expired(ctx, self._source, kinds, age=timedelta(hours=retention_hours))

    def expired_oauth_cleanup(self, ctx: JobContext) -> Counts:
        """Delete OAuth tokens that expired or were revoked more than a day ago, authorization codes
        that have expired, and codes used more than a day ago."""
        kinds = {"tokens": self._group.oauth_tokens, "codes": self._group.oauth_codes}
        return delete_expired(ctx, self._source, kinds, age=_DAY)

    def expired_auth_cleanup(self, ctx: JobContext) -> Counts:
        """Delete magic links and password resets that have expired."""
        kinds = {
            "magic_links": self._group.magic_links,
            "password_resets": self._group.password_resets,
        }
        return delete_expired(ctx, self._source, kinds, age=_NOW)
