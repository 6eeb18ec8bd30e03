"""The dashboard: a built single-page app, served from the package or from `ui/dist` of a checkout.

The page itself holds no data and is public; what it shows it asks the API for. Every file is kept in
memory, compressed once.
"""

import asyncio
import gzip
import html
import mimetypes
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fastapi import Request
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from windlass.api.middleware.admission import ASSETS, is_asset, path_below_root
from windlass.api.middleware.browser_security import IMMUTABLE
from windlass.errors import PathUnknown

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'none'"
)
#: Paths that are never the app's.
_OTHERS = ("/api/", ASSETS)
#: A smaller file would hardly shrink.
_WORTH_COMPRESSING = 1000
_COMPRESSED = re.compile(r"text/|image/svg|application/(javascript|json|manifest)")
_HEAD = re.compile(r"<head[^>]*>", re.IGNORECASE)
_NO_ENCODING = re.compile(r";\s*q=0(\.0*)?$")


class Asset(NamedTuple):
    """A file of the bundle, as it is and compressed (None where that does not help)."""

    content: bytes
    compressed: bytes | None
    media_type: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of a build, by their path from its root, and its page."""

    page: str
    assets: Mapping[str, Asset]


class Dashboard:
    """The bundle in a folder, read again once another build has replaced it."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or _find_folder()
        self._built: tuple[int, ...] | None = None
        self._bundle: Bundle | None = None

    async def bundle(self) -> Bundle | None:
        """The bundle; None if none has been built yet."""
        try:
            built = tuple(
                (self._folder / each).stat().st_mtime_ns for each in ("index.html", "assets")
            )
            if built != self._built:
                bundle = await asyncio.to_thread(_read, self._folder)
                self._built, self._bundle = built, bundle
        except OSError:
            pass  # there is none, or it is being built: the one before serves meanwhile
        return self._bundle


async def page_of(request: Request) -> Response | None:
    """The page of the app; None without a bundle.

    Its addresses are relative to the prefix under which the API is mounted, here or by a proxy.
    """
    bundle = await dashboard_of(request).bundle()
    if bundle is None:
        return None
    base = f'<base href="{html.escape(request.scope.get("root_path", ""))}/">'
    page = _HEAD.sub(lambda head: head[0] + base, bundle.page, count=1)
    return HTMLResponse(page, headers={"content-security-policy": _POLICY})


def dashboard_of(request: Request) -> Dashboard:
    dashboard: Dashboard = request.app.state.dashboard
    return dashboard


class DashboardRoute(Route):
    """Serves the bundle's files, and its page for each path that no other route serves.

    It comes last. A path that it does not serve is unknown as before: only readers of pages get one.
    """

    def __init__(self) -> None:
        super().__init__("/{path:path}", _respond, methods=["GET"], include_in_schema=False)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        if match is not Match.FULL or not _is_served(scope):
            return Match.NONE, {}
        return match, child

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


def _is_served(scope: Scope) -> bool:
    path = path_below_root(scope)
    return is_asset(scope) or (
        not path.startswith(_OTHERS) and "text/html" in Headers(scope=scope).get("accept", "")
    )


async def _respond(request: Request) -> Response:
    path = path_below_root(request.scope)
    bundle = await dashboard_of(request).bundle()
    if bundle is not None and (asset := bundle.assets.get(path.removeprefix("/"))) is not None:
        return _asset_response(request, asset, immutable=path.startswith(ASSETS))
    page = None if is_asset(request.scope) else await page_of(request)
    if page is None:
        raise PathUnknown(request.url.path)
    return page


def _asset_response(request: Request, asset: Asset, *, immutable: bool) -> Response:
    headers = {"vary": "accept-encoding"}
    if immutable:
        headers["cache-control"] = IMMUTABLE
    content = asset.content
    if asset.compressed is not None and _accepts_gzip(request):
        content = asset.compressed
        headers["content-encoding"] = "gzip"
    return Response(content, media_type=asset.media_type, headers=headers)


def _accepts_gzip(request: Request) -> bool:
    offered = (each.strip() for each in request.headers.get("accept-encoding", "").split(","))
    return any(each.startswith("gzip") and not _NO_ENCODING.search(each) for each in offered)


def _find_folder() -> Path:
    """Where the bundle is, or would be: in the installed package, or in the checkout around it."""
    package = Path(__file__).parents[2]
    checkout = package.parents[1] / "ui"
    installed = package / "dashboard"
    if not installed.exists() and (checkout / "package.json").exists():
        return checkout / "dist"
    return installed


def _read(folder: Path) -> Bundle:
    page = (folder / "index.html").read_text("utf-8")
    return Bundle(page, dict(_assets(folder)))


def _assets(folder: Path) -> Iterator[tuple[str, Asset]]:
    for file in folder.rglob("*"):
        name = file.relative_to(folder).as_posix()
        if not file.is_file() or name == "index.html":
            continue
        content = file.read_bytes()
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        compressed = None
        if len(content) >= _WORTH_COMPRESSING and _COMPRESSED.match(kind):
            compressed = gzip.compress(content, mtime=0)
        yield name, Asset(content, compressed, kind)
