"""The status page at `/`, limited to what the caller may see."""

import pytest

from tests.api.authenticated_api import guarding
from windlass import Windlass

pytestmark = pytest.mark.database("sqlite")


@pytest.fixture
async def guarded(wl: Windlass):
    @wl.job
    def mail(to: str) -> None: ...

    async with guarding(wl) as guarded:
        await guarded.wl.enqueue("mail", {"to": "<b>ada</b>"}, tenant="acme", queue="<i>mail</i>")
        await guarded.wl.enqueue("mail", {"to": "bob"}, tenant="globex", queue="letters")
        yield guarded


async def test_an_anonymous_visitor_is_asked_to_sign_in(guarded):
    response = await guarded.client.get("/")

    assert (response.status_code, response.headers["location"]) == (303, "/login")


async def test_a_superadmin_sees_the_overall_status(guarded):
    page = await guarded.client.get("/", headers=await guarded.token("superadmin"))

    assert page.status_code == 200
    assert "Healthy" in page.text
    assert "0 workers live" in page.text
    assert "<b>2</b><span class=glyph aria-hidden=true>○</span> Queued" in page.text
    assert "letters" in page.text


async def test_the_page_tells_how_to_get_the_dashboard(guarded):
    page = await guarded.client.get("/", headers=await guarded.token("superadmin"))

    assert "make ui" in page.text


async def test_a_sign_in_link_of_the_dashboard_leads_to_the_sign_in_page(guarded):
    link = await (await guarded.wl.ready()).users.first_admin()

    response = await guarded.client.get("/", params={"key": link.secret})

    assert response.headers["location"] == f"/login?link={link.secret}"


async def test_a_tenant_sees_its_own_status_only(guarded):
    page = await guarded.client.get("/", headers=await guarded.token("tenant_admin", "acme"))

    assert page.status_code == 200
    assert "acme" in page.text
    assert "globex" not in page.text
    assert "letters" not in page.text


async def test_a_user_limited_to_own_jobs_sees_no_others(guarded):
    page = await guarded.client.get("/", headers=await guarded.token("user", "acme"))

    assert page.status_code == 200
    assert "No jobs yet" in page.text
    assert "Queued" not in page.text


async def test_a_worker_credential_is_refused(guarded):
    page = await guarded.client.get("/", headers=await guarded.token("worker"))

    assert page.status_code == 403


async def test_user_text_is_escaped(guarded):
    page = await guarded.client.get("/", headers=await guarded.token("superadmin"))

    assert "&lt;i&gt;mail&lt;/i&gt;" in page.text
    assert "<i>" not in page.text
    assert "<script" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
