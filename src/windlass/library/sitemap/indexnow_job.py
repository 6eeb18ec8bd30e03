"""The job `sitemap.indexnow`."""

import asyncio
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from windlass.errors import HttpFailed, SettingMissing
from windlass.library.data.directories import check_directory
from windlass.library.http_client import HttpClient
from windlass.library.sitemap.sitemap_files import sitemap_names
from windlass.settings import LibrarySettings
from windlass.worker.context import JobContext


@dataclass(frozen=True, kw_only=True)
class IndexNowJob:
    """The handler, with the settings and the place of the sitemap."""

    settings: LibrarySettings
    site_url: str | None
    directory: str
    client: HttpClient

    async def submit(
        self, ctx: JobContext, sitemap_url: Annotated[str | None, Field(alias="sitemapUrl")] = None
    ) -> dict[str, bool]:
        """Submit the address of the sitemap to IndexNow, the site's own if none is given; each state
        of the site's sitemap once. Does nothing if library.indexnow_enabled is false or
        library.indexnow_api_key is not given."""
        key = self.settings.indexnow_api_key
        if not self.settings.indexnow_enabled or key is None:
            return {"submitted": False}
        own = None if self.site_url is None else f"{self.site_url.rstrip('/')}/sitemap.xml"
        url = sitemap_url or own
        if url is None:
            raise SettingMissing("library.site_url", needed_by="sitemap.indexnow")
        if url == own:
            state = await asyncio.to_thread(_digest, self.directory)
            if state is None:
                ctx.warn("there is no sitemap to submit")
                return {"submitted": False}
            if not await ctx.once(f"indexnow:{state}"):
                ctx.log.info("this state of the sitemap was submitted before")
                return {"submitted": False}
        await self._post(ctx, url, key)
        return {"submitted": True}

    async def _post(self, ctx: JobContext, url: str, key: str) -> None:
        body = {"host": urlsplit(url).hostname, "key": key, "urlList": [url]}
        endpoint = self.settings.indexnow_endpoint
        try:
            response = await self.client.send(
                "POST",
                endpoint,
                headers={"content-type": "application/json; charset=utf-8"},
                content=json.dumps(body).encode(),
            )
            if not response.is_success:
                place = urlsplit(endpoint).hostname or ""
                raise HttpFailed(place, problem=f"it answered with status {response.status}")
        except HttpFailed as error:
            text = f"IndexNow did not take the sitemap: {error.message} {error.reason}"
            ctx.log.error(text)
            raise
        text = f"submitted {url} to IndexNow"
        ctx.log.info(text)


def _digest(directory: str) -> str | None:
    """The state of the sitemap: a hash of its files. None if there is none."""
    check_directory(directory, setting="library.sitemap_directory")
    state = hashlib.sha256()
    names = sitemap_names(directory)
    for name in names:
        state.update(name.encode())
        with (Path(directory) / name).open("rb") as file:
            state.update(hashlib.file_digest(file, "sha256").digest())
    return state.hexdigest() if names else None
