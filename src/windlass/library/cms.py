"""Jobs of a content management system: its sitemap, caches and logs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from windlass.app.declare import JobOptions
from windlass.app.windlass import Windlass
from windlass.core.definitions.backoff import Backoff
from windlass.core.triggers.declared_trigger import event_trigger
from windlass.core.triggers.schedule import cron
from windlass.library.data.caches import Cache, FileCache
from windlass.library.data.tables import DateRule, ExpiringRows, ExpiringTable
from windlass.library.group import GroupOptions, source_of
from windlass.library.http_client import HttpClient
from windlass.library.sitemap.content import Content, SqlContent
from windlass.library.sitemap.indexnow_job import IndexNowJob
from windlass.library.sitemap.sitemap_job import UPDATED, SitemapJob
from windlass.library.upkeep.cache_jobs import CacheJobs
from windlass.library.upkeep.log_jobs import LogJobs
from windlass.worker.handlers import Handler

_CONTENT = SqlContent()
_CONTENT_EVENTS = ("CreatedContentEvent", "UpdatedContentEvent")
_PUBLISHED = {
    "model": {"in": ["Pages", "Posts", "Categories"]},
    "changed.status.to": "published",
}
_AUDIT_LOGS = ExpiringTable("audit_logs", (DateRule(column="created_at"),))
#: Events after which cached pages show something old.
_OUTDATING_EVENTS = ("CriticalSettingsChangedEvent", "ThemeActivatedEvent")


@dataclass(frozen=True, kw_only=True)
class Cms(GroupOptions):
    """Jobs of a content management system.

    `content` is what the sitemap lists. Without a `cache` it is a FileCache in the settings' library.cache_directory. `other_caches` are
    cleared with it: of the framework, of compiled views, of the configuration. `default_tags` is
    what `cache.clear` clears when its payload names nothing.
    """

    content: Content = _CONTENT
    site_url: str | None = None
    sitemap_directory: str | None = None
    cache: Cache | None = None
    other_caches: Mapping[str, Cache] = field(default_factory=dict)
    default_tags: tuple[str, ...] = ("pages", "posts", "categories", "sitemap")
    log_directory: str | None = None
    audit_logs: ExpiringRows | None = _AUDIT_LOGS

    def handlers(self, app: Windlass, source: object) -> Iterator[Handler]:
        settings, database = app.settings.library, source_of(app, source)
        cache = self.cache or FileCache(settings.cache_directory, "library.cache_directory")
        caches = CacheJobs({"cache": cache, **self.other_caches}, self.default_tags, database)
        logs = LogJobs(self.log_directory or settings.log_directory, self.audit_logs, database)
        sitemap = SitemapJob(
            app=app,
            source=database,
            content=self.content,
            site_url=self.site_url or settings.site_url,
            directory=self.sitemap_directory or settings.sitemap_directory,
            items_per_file=settings.sitemap_items_per_file,
            cache=self.cache,
        )
        yield self._job(
            app,
            sitemap.generate,
            "sitemap.generate",
            {
                "title": "Write the sitemap",
                "max_attempts": 3,
                "backoff": Backoff.exponential("60s", cap="240s", jitter=0),
                "timeout": "1h",
                "max_concurrency": 1,
                "schedule": cron("0 2 * * *", name="sitemap.generate", payload={"force": False}),
                "overlap": "skip",
            },
        ).with_triggers(
            [event_trigger(each, {"condition": _PUBLISHED}) for each in _CONTENT_EVENTS]
        )
        indexnow = IndexNowJob(
            settings=settings,
            site_url=sitemap.site_url,
            directory=sitemap.directory,
            client=HttpClient(allowed_networks=settings.http_networks),
        )
        yield self._job(
            app,
            indexnow.submit,
            "sitemap.indexnow",
            {
                "title": "Submit the sitemap to IndexNow",
                "max_attempts": 3,
                "backoff": Backoff.fixed("60s"),
                "timeout": "2m",
                "max_concurrency": 1,
                "after": ["sitemap.generate"],
                "schedule": cron(
                    "0 2 * * *", name="sitemap.indexnow", payload={"sitemapUrl": None}
                ),
                "overlap": "skip",
            },
        ).with_triggers(
            [event_trigger(UPDATED, {"payload": {"sitemapUrl": "{{event.url}}"}, "delay": "30s"})]
        )
        yield self._job(
            app,
            caches.clear,
            "cache.clear",
            {"title": "Clear the cache", "max_attempts": 1, "timeout": "10m"},
        ).with_triggers([event_trigger(event, {}) for event in _OUTDATING_EVENTS])
        yield self._job(
            app,
            caches.clear_expired,
            "cache.clearExpired",
            {
                "title": "Remove expired cache entries",
                "priority": "low",
                "max_attempts": 1,
                "timeout": "10m",
                "max_concurrency": 1,
                "schedule": cron("*/5 * * * *", name="cache.clearExpired"),
                "overlap": "skip",
            },
        )
        yield self._job(
            app,
            logs.cleanup,
            "logs.cleanup",
            {
                "title": "Remove old logs",
                "priority": "low",
                "max_attempts": 3,
                "timeout": "1h",
                "max_concurrency": 1,
                "schedule": cron("0 4 * * *", name="logs.cleanup"),
                "overlap": "skip",
            },
        )

    def _job(
        self, app: Windlass, call: Callable[..., Any], key: str, options: JobOptions
    ) -> Handler:
        return self.handler(app, call, key, {"idempotent": True, **options})
