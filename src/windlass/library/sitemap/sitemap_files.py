"""Files of a sitemap: written beside the old ones as pages come, and put in their place at the end."""

import filecmp
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO
from urllib.parse import quote
from xml.sax.saxutils import escape

from windlass.library.sitemap.content import Page

#: Limits of the protocol.
MOST_URLS = 50_000
MOST_BYTES = 50 * 1024 * 1024
LONGEST_URL = 2048

_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{namespace}">\n'
_MAIN = "sitemap.xml"
_PART = re.compile(r"sitemap-([1-9][0-9]*)\.xml")


class SitemapFiles:
    """Writes a sitemap into a directory: `sitemap.xml`, which with more than one file is the index
    of `sitemap-1.xml` and so on. Holds one page in memory at a time."""

    def __init__(
        self, directory: str, site_url: str, *, items: int, most_bytes: int = MOST_BYTES
    ) -> None:
        self._directory = directory
        self._site = site_url.rstrip("/")
        self._items = items
        self._most_bytes = most_bytes
        self._written: list[str] = []
        self._file: IO[bytes] | None = None
        self._in_file = 0
        self.pages = 0

    def add(self, page: Page) -> str | None:
        """Add a page; returns the problem if it cannot be listed."""
        url = f"{self._site}/{quote(page.path or '', safe='/')}"
        if len(url) >= LONGEST_URL:
            return f"its address has {len(url):,} characters"
        changed = page.updated_at and page.updated_at.isoformat(timespec="seconds")
        entry = (
            f"  <url><loc>{escape(url)}</loc>"
            + (f"<lastmod>{changed}</lastmod>" if changed else "")
            + f"<priority>{page.priority:.1f}</priority></url>\n"
        ).encode()
        tail = _tail("urlset")
        if self._file is not None and (
            self._in_file == self._items
            or self._file.tell() + len(entry) + len(tail) > self._most_bytes
        ):
            self._end_file()
        if self._file is None:
            self._file = self._begin("urlset")
        self._file.write(entry)
        self._in_file += 1
        self.pages += 1
        return None

    def publish(self, *, force: bool) -> list[str]:
        """Put the new files in the place of the old ones; returns the names of those that changed.

        Each file is replaced as a whole: the parts first, then what lists them. Equal files stay as
        they are, unless by `force`.
        """
        if self._file is None and not self._written:
            self._file = self._begin("urlset")
        self._end_file()
        if len(self._written) == 1:
            parts: list[str] = []
            names = [_MAIN]
        else:
            parts = [f"sitemap-{number}.xml" for number in range(1, len(self._written) + 1)]
            self._write_index(parts)
            names = [*parts, _MAIN]
        changed = [
            name
            for written, name in zip(self._written, names, strict=True)
            if self._replace(written, name, force=force)
        ]
        for name in sorted(os.listdir(self._directory)):
            if _PART.fullmatch(name) and name not in parts:
                os.unlink(os.path.join(self._directory, name))
                changed.append(name)
        return changed

    def close(self) -> None:
        """Remove what was written and not published."""
        if self._file is not None:
            self._file.close()
        for path in self._written:
            with suppress(FileNotFoundError):
                os.unlink(path)

    def _begin(self, root: str) -> IO[bytes]:
        handle, path = tempfile.mkstemp(prefix=".sitemap-", suffix=".tmp", dir=self._directory)
        self._written.append(path)
        file = os.fdopen(handle, "wb")
        file.write(_HEAD.format(root=root, namespace=_NAMESPACE).encode())
        self._in_file = 0
        return file

    def _end_file(self, root: str = "urlset") -> None:
        if self._file is None:
            return
        file, self._file = self._file, None
        with file:
            file.write(_tail(root))
            file.flush()
            os.fchmod(file.fileno(), 0o644)  # a web server of another user reads it
            os.fsync(file.fileno())

    def _write_index(self, parts: list[str]) -> None:
        if len(parts) > MOST_URLS:
            raise ValueError(
                f"a sitemap has at most {MOST_URLS:,} files, and this one {len(parts):,}"
            )
        self._file = self._begin("sitemapindex")
        for name in parts:
            loc = escape(f"{self._site}/{name}")
            self._file.write(f"  <sitemap><loc>{loc}</loc></sitemap>\n".encode())
        self._end_file("sitemapindex")

    def _replace(self, written: str, name: str, *, force: bool) -> bool:
        path = os.path.join(self._directory, name)
        if not force and os.path.isfile(path) and filecmp.cmp(written, path, shallow=False):
            return False
        os.replace(written, path)
        return True


@contextmanager
def new_sitemap(directory: str, site_url: str, *, items: int) -> Iterator[SitemapFiles]:
    """A sitemap to write; what is not published at the end of the block is removed."""
    files = SitemapFiles(directory, site_url, items=items)
    try:
        yield files
    finally:
        files.close()


def sitemap_names(directory: str) -> list[str]:
    """The files of the sitemap in a directory, sorted."""
    return [
        name for name in sorted(os.listdir(directory)) if name == _MAIN or _PART.fullmatch(name)
    ]


def _tail(root: str) -> bytes:
    return f"</{root}>\n".encode()
