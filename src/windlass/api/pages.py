"""`/login` and `/password` for a browser: plain forms, no script.

Opening a link changes nothing, so that whoever previews it does not use it up; its button does.
"""

import html
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from windlass.api.browser import check_same_site, page_headers
from windlass.api.callers import Ready
from windlass.api.limits import Counted
from windlass.api.login import give_session, note_of
from windlass.api.problems import status_of
from windlass.engine.sessions import SignedIn
from windlass.errors import LoginFailed, WindlassError

router = APIRouter(include_in_schema=False, dependencies=[Counted])

_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui;max-width:22rem;margin:15vh auto;"
    "padding:0 1rem}label,button{display:block;width:100%;margin:1rem 0}input{display:block;"
    "width:100%;box-sizing:border-box}input,button{font:inherit;padding:.5rem}"
)
_HEADERS = page_headers(_STYLE, forms=True)
_NAME = "<label>Name<input name=name autocomplete=username required autofocus></label>"
_PASSWORD = (
    "<label>Password<input name=password type=password autocomplete=current-password required>"
    "</label>"
)
_NEW_PASSWORD = (
    "<label>New password, 12 characters or more<input name=password type=password minlength=12 "
    "autocomplete=new-password required autofocus></label>"
)


@router.get("/login")
async def ask_login(link: str = "") -> Response:
    """A form for name and password; with a link only a button."""
    return _login_page(link)


@router.post("/login")
async def login(request: Request, engine: Ready) -> Response:
    said = await _said(request)

    async def sign_in() -> SignedIn:
        if link := said.get("link", ""):
            return await engine.sessions.by_link(link, note=note_of(request))
        return await engine.sessions.login(
            said.get("name", ""),
            said.get("password", ""),
            address=request.client.host if request.client else None,
            note=note_of(request),
        )

    return await _signed_in(request, sign_in, lambda error: _login_page(error=error))


@router.get("/password")
async def ask_password(link: str = "") -> Response:
    """A form for a new password, by a link."""
    return _password_page(link)


@router.post("/password")
async def set_password(request: Request, engine: Ready) -> Response:
    said = await _said(request)
    link = said.get("link", "")

    async def sign_in() -> SignedIn:
        password = said.get("password", "")
        return await engine.sessions.set_password(link, password, note=note_of(request))

    return await _signed_in(request, sign_in, lambda error: _password_page(link, error=error))


async def _said(request: Request) -> dict[str, str]:
    """The fields of a form of ours."""
    check_same_site(request)
    text = (await request.body()).decode(errors="replace")
    return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=10))


async def _signed_in(
    request: Request,
    sign_in: Callable[[], Awaitable[SignedIn]],
    page: Callable[[WindlassError], Response],
) -> Response:
    """To the first page with a session, or the same form again and what was wrong."""
    try:
        made = await sign_in()
    except ValueError:  # too many fields
        return page(LoginFailed())
    except WindlassError as error:
        answer = page(error)
        answer.status_code = status_of(type(error))
        return answer
    answer = RedirectResponse(f"{request.scope.get('root_path', '')}/", 303)
    give_session(request, answer, made)
    return answer


def _login_page(link: str = "", error: WindlassError | None = None) -> Response:
    fields = [_hidden(link)] if link else [_NAME, _PASSWORD]
    return _page("Sign in to Windlass", "Sign in", fields, error)


def _password_page(link: str, error: WindlassError | None = None) -> Response:
    return _page("Set your password", "Set it and sign in", [_NEW_PASSWORD, _hidden(link)], error)


def _hidden(link: str) -> str:
    return f'<input type=hidden name=link value="{html.escape(link)}">'


def _page(
    title: str, button: str, fields: Sequence[str], error: WindlassError | None
) -> HTMLResponse:
    wrong = ""
    if error is not None:
        wrong = f"<p role=alert>{html.escape(error.message)} {html.escape(error.hint)}</p>"
    return HTMLResponse(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
        "<meta name=viewport content='width=device-width'><meta name=robots content=noindex>"
        f"<style>{_STYLE}</style>"
        f"<main><h1>{title}</h1>{wrong}<form method=post>{''.join(fields)}"
        f"<button>{button}</button></form></main></html>",
        headers=_HEADERS,
    )
