"""The job `sitemap.generate`."""

import asyncio
from dataclasses import dataclass
from typing import Any

from windlass.app.windlass import Windlass
from windlass.errors import SettingMissing, Stopped
from windlass.library.data.caches import Cache
from windlass.library.data.directories import check_directory
from windlass.library.data.source import Source
from windlass.library.sitemap.content import Content
from windlass.library.sitemap.sitemap_files import new_sitemap
from windlass.worker.context import JobContext

UPDATED = "SitemapUpdatedEvent"
CACHE_TAG = "sitemap"

_REPORT_EVERY = 500


@dataclass(frozen=True, kw_only=True)
class SitemapJob:
    """The handler, with what it needs of the application."""

    app: Windlass
    source: Source
    content: Content
    site_url: str | None
    directory: str
    items_per_file: int
    cache: Cache | None

    async def generate(self, ctx: JobContext, force: bool = False) -> dict[str, Any]:
        """Write the sitemap of all published content, then emit SitemapUpdatedEvent. Files that would
        not change stay as they are, unless by `force`. A page that cannot be listed is a warning."""
        result = await asyncio.to_thread(self._write, ctx, force=force)
        await self.app.emit(UPDATED, result)
        ctx.progress(1.0, f"listed {result['pages']:,} pages")
        return result

    def _write(self, ctx: JobContext, *, force: bool) -> dict[str, Any]:
        if self.site_url is None:
            raise SettingMissing("library.site_url", needed_by="sitemap.generate")
        check_directory(self.directory, setting="library.sitemap_directory")
        total = max(1, self.content.count(self.source))
        with new_sitemap(self.directory, self.site_url, items=self.items_per_file) as files:
            for number, page in enumerate(self.content.pages(self.source)):
                if number % _REPORT_EVERY == 0:
                    ctx.checkpoint()
                    ctx.progress(min(1.0, number / total), f"listed {number:,} pages")
                problem = page.problem
                if page.path is not None:
                    problem = files.add(page) or problem
                if problem is not None:
                    ctx.warn(f"{page.name}: {problem}")
            ctx.checkpoint()
            changed = files.publish(force=force)
        if changed:
            self._clear_cache(ctx)
        text = f"wrote {len(changed):,} files for {files.pages:,} pages"
        ctx.log.info(text)
        return {
            "url": f"{self.site_url.rstrip('/')}/sitemap.xml",
            "pages": files.pages,
            "changed": bool(changed),
            "files": changed[:100],
        }

    def _clear_cache(self, ctx: JobContext) -> None:
        if self.cache is None:
            return
        try:
            cleared = self.cache.clear(self.source, [CACHE_TAG], ctx.checkpoint)
        except Stopped:
            raise
        except Exception as error:  # noqa: BLE001  the sitemap is written; the cache expires
            ctx.warn(f"the cache of the sitemap was not cleared: {error}")
            return
        for problem in cleared.problems:
            ctx.warn(problem)
