"""The jobs `cache.clear` and `cache.clearExpired`."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from windlass.errors import Stopped
from windlass.library.data.caches import Cache, Cleared
from windlass.library.data.source import Source
from windlass.worker.context import JobContext

Counts = dict[str, int]


class CacheJobs:
    """The handlers, for some caches by name: `cache`, and others that hold what is compiled."""

    def __init__(
        self, caches: Mapping[str, Cache], default_tags: Sequence[str], source: Source
    ) -> None:
        self._caches = caches
        self._default_tags = default_tags
        self._source = source

    def clear(
        self,
        ctx: JobContext,
        tags: Annotated[list[str], Field(max_length=100)] = [],  # noqa: B006  the payload's default
        clear_all: Annotated[bool, Field(alias="clearAll")] = False,
    ) -> Counts:
        """Clear the whole cache with `clearAll`, else the entries with one of `tags`, else the default
        entries; then the caches of framework, compiled views and configuration. What cannot be
        cleared is a warning, and the rest is cleared all the same."""
        chosen = None if clear_all else (tags or self._default_tags)
        total = Cleared()
        for number, (name, cache) in enumerate(self._caches.items()):
            ctx.progress(number / len(self._caches), f"clearing {name}")
            try:
                cleared = cache.clear(self._source, chosen if number == 0 else None, ctx.checkpoint)
            except Stopped:
                raise
            except Exception as error:  # noqa: BLE001  the other caches are cleared all the same
                cleared = Cleared()
                cleared.failure(name, error)
            self._report(ctx, cleared)
            total.entries += cleared.entries
            total.failed += cleared.failed
        ctx.progress(1.0, f"cleared {total.entries:,} entries")
        return {"entries": total.entries, "failed": total.failed}

    def clear_expired(self, ctx: JobContext) -> Counts:
        """Remove the cache entries that have expired."""
        cleared = self._caches["cache"].clear_expired(self._source, ctx.checkpoint)
        self._report(ctx, cleared)
        ctx.progress(1.0, f"removed {cleared.entries:,} entries")
        return {"entries": cleared.entries, "failed": cleared.failed}

    def _report(self, ctx: JobContext, cleared: Cleared) -> None:
        for problem in cleared.problems:
            ctx.log.error(problem)
            ctx.warn(problem)
