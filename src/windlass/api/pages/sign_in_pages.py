"""`/login`, `/password` and `/invitation` for a browser: plain forms, no script.

Opening a link changes nothing, so that a preview does not use it up; its button does.
"""

import html
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from windlass.api.access.callers import ReadyEngine
from windlass.api.access.login import client_address, set_session_cookie, user_agent_of
from windlass.api.http_routes import SafeRoute, as_dependency
from windlass.api.middleware.browser_security import check_same_site, page_headers, session_secret
from windlass.api.middleware.problems import status_of
from windlass.api.middleware.rate_limit import Counted
from windlass.core.access.principal import Principal
from windlass.engine.access.sessions import NewSession
from windlass.engine.engine import Engine
from windlass.errors import (
    FieldError,
    LoginFailed,
    NotAuthenticated,
    RequestInvalid,
    WindlassError,
)

router = APIRouter(
    route_class=SafeRoute, include_in_schema=False, dependencies=[as_dependency(Counted)]
)

_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui;max-width:22rem;margin:15vh auto;"
    "padding:0 1rem}label,button{display:block;width:100%;margin:1rem 0}input{display:block;"
    "width:100%;box-sizing:border-box}input,button{font:inherit;padding:.5rem}"
)
_HEADERS = page_headers(_STYLE, forms=True)
_MOST_FIELDS = 10
_NAME = "<label>Name<input name=name autocomplete=username required autofocus></label>"
_PASSWORD = (
    "<label>Password<input name=password type=password autocomplete=current-password required>"
    "</label>"
)


@router.get("/login")
async def ask_login(link: str = "") -> Response:
    """Show a form for name and password; with a link only a button."""
    return _login_page(link)


@router.post("/login")
async def login(request: Request, engine: ReadyEngine) -> Response:
    fields = await _form_fields(request)

    async def sign_in() -> NewSession:
        if link := fields.get("link", ""):
            return await engine.sessions.login_with_link(
                link, address=client_address(request), note=user_agent_of(request)
            )
        return await engine.sessions.login(
            fields.get("name", ""),
            fields.get("password", ""),
            address=client_address(request),
            note=user_agent_of(request),
        )

    return await _sign_in_response(request, sign_in, lambda error: _login_page(error=error))


@router.get("/password")
async def ask_password(link: str = "") -> Response:
    """Show a form to set a password by a link."""
    return _password_page(link)


@router.post("/password")
async def set_password(request: Request, engine: ReadyEngine) -> Response:
    fields = await _form_fields(request)
    link = fields.get("link", "")

    async def sign_in() -> NewSession:
        password = fields.get("password", "")
        return await engine.sessions.set_password(
            link, password, address=client_address(request), note=user_agent_of(request)
        )

    return await _sign_in_response(
        request, sign_in, lambda error: _password_page(link, error=error)
    )


@router.get("/invitation")
async def ask_invitation(request: Request, engine: ReadyEngine, link: str = "") -> Response:
    """Show a button to a signed-in user; else forms to sign in or to create an account. The page
    reveals neither if the link is valid nor if an account exists."""
    return _invitation_page(link, await _current_user(request, engine))


@router.post("/invitation")
async def accept_invitation(request: Request, engine: ReadyEngine) -> Response:
    fields = await _form_fields(request)
    link = fields.get("link", "")
    address, note = client_address(request), user_agent_of(request)
    user = await _current_user(request, engine)

    async def sign_in() -> NewSession | None:
        if "new_password" in fields:
            return await engine.invitations.accept_as_new(
                link, fields["new_password"], address=address, note=note
            )
        if "name" in fields:
            return await engine.invitations.accept_by_login(
                link, fields["name"], fields.get("password", ""), address=address, note=note
            )
        if user is None:
            raise LoginFailed
        await engine.invitations.accept(user, link, keep=session_secret(request))
        return None

    return await _sign_in_response(
        request, sign_in, lambda error: _invitation_page(link, user, error)
    )


async def _current_user(request: Request, engine: Engine) -> Principal | None:
    try:
        return await engine.access.authenticate_session(session_secret(request) or "")
    except NotAuthenticated:
        return None


async def _form_fields(request: Request) -> dict[str, str]:
    """Parse the fields of a submitted form."""
    check_same_site(request)
    text = (await request.body()).decode(errors="replace")
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        problem = f"it has more than {_MOST_FIELDS} fields"
        raise RequestInvalid([FieldError("", problem)]) from None


async def _sign_in_response(
    request: Request,
    sign_in: Callable[[], Awaitable[NewSession | None]],
    page: Callable[[WindlassError], Response],
) -> Response:
    """Redirect to the first page, with the new session if any; on an error show the form again."""
    try:
        session = await sign_in()
    except WindlassError as error:
        response = page(error)
        response.status_code = status_of(type(error))
        return response
    response = RedirectResponse(f"{request.scope.get('root_path', '')}/", 303)
    if session is not None:
        set_session_cookie(request, response, session)
    return response


def _login_page(link: str = "", error: WindlassError | None = None) -> Response:
    fields = [_hidden(link)] if link else [_NAME, _PASSWORD]
    return _page("Sign in to Windlass", [_form("Sign in", fields)], error)


def _password_page(link: str, error: WindlassError | None = None) -> Response:
    form = _form("Set it and sign in", [_new_password("password"), _hidden(link)])
    return _page("Set your password", [form], error)


def _invitation_page(
    link: str, user: Principal | None, error: WindlassError | None = None
) -> Response:
    if user is not None:
        forms = [_form(f"Accept as {html.escape(user.name)}", [_hidden(link)])]
    else:
        forms = [
            "<h2>If you have an account</h2>",
            _form("Sign in and accept", [_NAME, _PASSWORD, _hidden(link)]),
            "<h2>If you have no account</h2>",
            _form("Set a password and accept", [_new_password("new_password"), _hidden(link)]),
        ]
    return _page("You are invited to Windlass", forms, error)


def _new_password(field: str) -> str:
    return (
        f"<label>New password, 12 characters or more<input name={field} type=password minlength=12 "
        "autocomplete=new-password required autofocus></label>"
    )


def _hidden(link: str) -> str:
    return f'<input type=hidden name=link value="{html.escape(link)}">'


def _form(button: str, fields: Sequence[str]) -> str:
    return f"<form method=post>{''.join(fields)}<button>{button}</button></form>"


def _page(title: str, forms: Sequence[str], error: WindlassError | None) -> HTMLResponse:
    wrong = ""
    if error is not None:
        wrong = f"<p role=alert>{html.escape(error.message)} {html.escape(error.hint)}</p>"
    return HTMLResponse(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
        "<meta name=viewport content='width=device-width'><meta name=robots content=noindex>"
        f"<style>{_STYLE}</style>"
        f"<main><h1>{title}</h1>{wrong}{''.join(forms)}</main></html>",
        headers=_HEADERS,
    )
