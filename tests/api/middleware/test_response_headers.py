"""Every response has the headers that keep browsers from storing, sniffing and framing it."""

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from tests.api.authenticated_api import guarding
from tests.api.stream_client import serving
from windlass import Settings, Windlass

CROSS = {"sec-fetch-site": "cross-site"}


@pytest.fixture
async def guarded(wl):
    async with guarding(wl) as guarded:
        yield guarded


def check(response):
    policy = response.headers["content-security-policy"]
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "same-origin"
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "base-uri 'none'" in policy
    assert "form-action" in policy
    assert "unsafe" not in policy
    assert len(response.headers.get_list("cache-control")) == 1
    assert response.headers["x-request-id"]


def routes(app):
    for route in app.routes:
        path = re.sub(r"\{[^}]*\}", "00000000-0000-7000-8000-000000000000", route.path)
        for method in sorted(getattr(route, "methods", None) or {"GET"}):
            yield method, path


async def test_every_route_sends_the_security_headers(guarded):
    token = await guarded.token("superadmin")
    checked = 0

    for method, path in routes(guarded.app):
        for headers in ({}, token, {**token, **CROSS}):
            if path.endswith("/stream"):
                path += "?topics=nonsense"
            check(await guarded.client.request(method, path, headers=headers))
            checked += 1

    assert checked > 200


async def test_unknown_paths_and_methods_send_the_security_headers(guarded):
    check(await guarded.client.get("/nothing"))
    check(await guarded.client.put("/healthz"))
    check(await guarded.client.get("/api/v1/jobs%00"))
    check(await guarded.client.post("/api/v1/login", content=b"x" * 2_000_000, headers=CROSS))
    redirect = await guarded.client.get("/")
    check(redirect)
    assert redirect.status_code == 303


async def test_an_unexpected_error_sends_the_security_headers(guarded, monkeypatch):
    async def broken():
        raise RuntimeError("secret of the inside")

    monkeypatch.setattr(guarded.wl, "ready", broken)

    response = await guarded.client.get("/readyz")
    in_middleware = await guarded.client.post(
        "/api/v1/jobs", headers={"authorization": "Bearer x", **CROSS}
    )

    for each in (response, in_middleware):
        assert each.status_code == 500
        assert "secret" not in each.text
        check(each)


async def test_a_stream_sends_the_security_headers(guarded):
    token = await guarded.token("superadmin")
    async with serving(guarded.app) as served:
        async with served.listen("jobs", who=token["authorization"]) as listener:
            check(listener.response)


async def test_a_rate_limited_response_sends_the_security_headers(wl):
    few = Settings.load({"server.requests_per_minute_per_address": 10}, environ={})
    small = Windlass(wl.url, settings=few)
    async with guarding(small) as guarded:
        guarded.stop_the_clock()
        responses = [await guarded.client.get("/docs") for _ in range(11)]
    await small.close()

    assert responses[-1].status_code == 429
    check(responses[-1])


@pytest.mark.parametrize("path", ["/login", "/password", "/docs", "/"])
async def test_the_style_of_a_page_is_allowed_by_its_policy(guarded, path):
    token = await guarded.token("superadmin")

    page = await guarded.client.get(path, headers=token)

    [style] = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in page.headers["content-security-policy"]
    assert "style=" not in page.text
    assert "<script" not in page.text
