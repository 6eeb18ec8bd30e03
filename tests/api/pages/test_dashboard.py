"""The dashboard's page and files: public, at any prefix, and without a credential or the database."""

import gzip
import os

import httpx2
import pytest
from starlette.applications import Starlette

from tests.api.authenticated_api import guarding
from windlass import Settings, Windlass
from windlass.api.middleware.browser_security import IMMUTABLE

pytestmark = pytest.mark.database("sqlite")

PAGE = {"accept": "text/html,application/xhtml+xml"}
SCRIPT = "console.log('a long script');" * 100
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'none'"
)


@pytest.fixture
def built(tmp_path):
    """A bundle as Vite writes it, only smaller."""
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(
        "<!doctype html><html><head><title>Windlass</title>"
        '<script type="module" src="./assets/index-1a2b.js"></script></head><body></body></html>'
    )
    (folder / "assets" / "index-1a2b.js").write_text(SCRIPT)
    (folder / "favicon.svg").write_text("<svg/>")
    return folder


@pytest.fixture
async def guarded(wl: Windlass, built):
    async with guarding(wl, dashboard=built) as guarded:
        yield guarded


@pytest.mark.parametrize(
    "path", ["/", "/jobs", "/jobs/019a", "/definitions/mail.send", "/setup", "/logs"]
)
async def test_each_address_of_the_app_has_its_page(guarded, path):
    response = await guarded.client.get(path, headers=PAGE)

    assert response.status_code == 200
    assert "<title>Windlass</title>" in response.text
    assert '<head><base href="/">' in response.text
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-security-policy"] == POLICY
    assert response.headers["cache-control"] == "no-store"


async def test_other_pages_and_the_api_stay_what_they_are(guarded):
    token = await guarded.token("superadmin")

    documented = await guarded.client.get("/docs", headers=PAGE)
    asked = await guarded.client.get("/login", headers=PAGE)
    unknown = await guarded.client.get("/api/v1/nothing", headers=PAGE)
    jobs = await guarded.client.get("/api/v1/jobs", headers={**PAGE, **token})

    assert "Windlass HTTP API" in documented.text
    assert "Sign in to Windlass" in asked.text
    assert (unknown.status_code, unknown.json()["status"]) == (404, 404)
    assert jobs.json()["items"] == []


async def test_an_unknown_path_is_unknown_to_those_who_read_no_pages(guarded):
    response = await guarded.client.get("/nothing", headers={"accept": "application/json"})
    written = await guarded.client.post("/nothing", headers=PAGE)

    assert response.status_code == written.status_code == 404


async def test_a_file_with_its_hash_in_its_name_is_kept_by_browsers(guarded):
    response = await guarded.client.get("/assets/index-1a2b.js")

    assert response.text == SCRIPT
    assert response.headers["content-type"].startswith("text/javascript")
    assert response.headers["cache-control"] == IMMUTABLE
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_a_file_is_compressed_for_those_who_accept_it(guarded):
    response = await guarded.client.get("/assets/index-1a2b.js")
    plain = await guarded.client.get(
        "/assets/index-1a2b.js", headers={"accept-encoding": "gzip;q=0, br"}
    )

    assert response.headers["content-encoding"] == "gzip"
    assert int(response.headers["content-length"]) == len(gzip.compress(SCRIPT.encode(), mtime=0))
    assert "content-encoding" not in plain.headers
    assert response.headers["vary"] == plain.headers["vary"] == "accept-encoding"


async def test_other_files_are_served_and_not_kept(guarded):
    response = await guarded.client.get("/favicon.svg")

    assert (response.text, response.headers["content-type"]) == ("<svg/>", "image/svg+xml")
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    ["/assets/gone-9z.js", "/assets/../index.html", "/assets/%2e%2e/%2e%2e/secret", "/gone.svg"],
)
async def test_a_file_that_the_bundle_does_not_have_is_unknown(guarded, path):
    response = await guarded.client.get(path, headers=PAGE)

    assert response.status_code == 404


async def test_a_file_counts_against_no_rate_limit(wl, built):
    async with guarding(wl, dashboard=built) as guarded:
        guarded.stop_the_clock()
        beyond = 2 * (guarded.wl.settings.server.requests_per_minute_per_address or 0)

        answers = {
            (await guarded.client.get("/assets/index-1a2b.js")).status_code for _ in range(beyond)
        }

    assert answers == {200}


async def test_the_page_needs_no_database(guarded, monkeypatch):
    async def broken():
        raise RuntimeError

    monkeypatch.setattr(guarded.wl, "ready", broken)

    assert (await guarded.client.get("/", headers=PAGE)).status_code == 200


async def test_a_new_build_replaces_the_one_before(guarded, built):
    await guarded.client.get("/", headers=PAGE)
    before = (built / "index.html").stat()
    (built / "assets" / "index-3c4d.js").write_text("new")
    (built / "index.html").write_text("<html><head></head><body>a new build</body></html>")
    os.utime(built / "index.html", ns=(before.st_atime_ns, before.st_mtime_ns + 1))

    page = await guarded.client.get("/", headers=PAGE)
    script = await guarded.client.get("/assets/index-3c4d.js")

    assert "a new build" in page.text
    assert script.text == "new"


async def test_the_build_before_serves_while_another_is_made(guarded, built):
    before = await guarded.client.get("/", headers=PAGE)
    (built / "index.html").unlink()

    meanwhile = await guarded.client.get("/", headers=PAGE)

    assert meanwhile.text == before.text


async def test_the_dashboard_works_where_another_application_mounts_it(guarded):
    host = Starlette()
    host.mount("/admin/windlass", guarded.app)
    transport = httpx2.ASGITransport(host)
    async with httpx2.AsyncClient(transport=transport, base_url="http://host") as client:
        first = await client.get("/admin/windlass/", headers=PAGE)
        deep = await client.get("/admin/windlass/jobs/019a", headers=PAGE)
        script = await client.get("/admin/windlass/assets/index-1a2b.js")
        whoami = await client.get("/admin/windlass/api/v1/whoami")

    assert '<base href="/admin/windlass/">' in first.text
    assert '<base href="/admin/windlass/">' in deep.text
    assert script.text == SCRIPT
    assert whoami.status_code == 401


async def test_the_prefix_of_a_trusted_proxy_is_the_base_of_addresses(wl, built):
    settings = Settings.load({"server.trusted_proxies": ["127.0.0.1"]}, environ={})
    proxied = Windlass(wl.url, settings=settings)
    async with guarding(proxied, dashboard=built) as guarded:
        client, headers = guarded.client, {**PAGE, "x-forwarded-prefix": "/windlass/"}

        page = await client.get("/jobs", headers=headers)
        script = await client.get("/assets/index-1a2b.js", headers=headers)
        bad = await client.get("/jobs", headers={**PAGE, "x-forwarded-prefix": '/"><script>'})
        away = guarded.browser("192.0.2.1")
        untrusted = await away.get("/jobs", headers=headers)
    await proxied.close()

    assert '<base href="/windlass/">' in page.text
    assert script.text == SCRIPT
    assert '<base href="/">' in bad.text
    assert '<base href="/">' in untrusted.text
