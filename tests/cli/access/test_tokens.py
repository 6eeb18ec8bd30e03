"""`windlass tokens|login|logout|whoami|audit`."""

import json
import sqlite3
import urllib.request

import pytest

from tests.cli.run.test_serve import address
from tests.support.processes.shell import Done, Shell

PASSWORD = "correct horse battery staple"


def test_tokens_are_created_with_fewer_rights_listed_and_revoked(ready: Shell):
    ready.here("tenants", "create", "acme")
    made = ready.ok(
        "tokens", "create", "shop", "-t", "acme", "--role", "tenant_admin",
        "--rights", "jobs.read,stats.read", "--expires", "90d", "--json",
    ).json  # fmt: skip

    [listed] = ready.here("tokens", "list", "--json").json["items"]
    alone = ready.run("tokens", "revoke", "shop")
    revoked = ready.ok("tokens", "revoke", made["id"][-8:], "--yes")

    assert listed["tenant_id"] == "acme"
    assert sorted(listed["rights"]) == ["jobs.read", "stats.read"]
    assert "secret" not in listed
    assert alone.code == 2
    assert revoked.out.strip() == made["id"]
    assert ready.here("tokens", "list").err == "No tokens.\n"
    assert ready.here("tokens", "list", "--json").json == {"items": [], "next_cursor": None}
    [ended] = ready.here("tokens", "list", "--all", "--json").json["items"]
    assert ended["revoked_at"]
    assert "revoked" in ready.at_terminal("tokens", "list", "--all").out
    assert ready.run("tokens", "revoke", "shop", "--yes").code == 3


def test_an_ambiguous_name_revokes_no_token(ready: Shell):
    for _ in range(2):
        ready.here("tokens", "create", "twin", "--role", "superadmin")

    done = ready.run("tokens", "revoke", "twin", "--yes")

    assert done.code == 2
    assert len(ready.here("tokens", "list", "-o", "id").lines) == 2


def test_the_audit_log_is_listed_and_verified(ready: Shell):
    ready.here("tokens", "create", "one", "--role", "superadmin")
    ready.here("tokens", "create", "two", "--role", "superadmin")

    page = ready.ok("audit", "list", "--limit", "1", "--json").json
    before = ready.here("audit", "list", "--before", str(page["next"]), "--json").json
    whole = ready.ok("audit", "verify")
    with sqlite3.connect(ready.folder / "windlass.db") as database:
        database.execute("update windlass_audit set action = 'nothing' where sequence = 1")
    broken = ready.run("audit", "verify", "--json")

    assert page["items"][0]["action"] == "tokens.write"
    assert before["items"]
    assert whole.out.startswith("(installation): whole, entries: ")
    assert broken.code == 1
    assert broken.json["chains"][0]["broken"]["sequence"] == 1
    assert "tokens.write" in ready.at_terminal("audit", "list", width=140).out


def test_direct_database_access_has_every_right(ready: Shell):
    assert ready.ok("whoami", "--json").json["rights"] is None
    assert "everything" in ready.at_terminal("whoami").out


@pytest.fixture
def served(ready: Shell, tmp_path):
    """A server with authentication; its address, and the folder of saved logins."""
    ready.here("users", "create", "ada")
    link = ready.here("users", "link", "ada", "--at", "").out.strip()
    server = ready.start("serve", "--port", "0")
    url = address(server)
    request = urllib.request.Request(
        f"{url}/api/v1/login/password",
        json.dumps({"link": link.rpartition("=")[2], "password": PASSWORD}).encode(),
        {"content-type": "application/json", "origin": url},
    )
    with urllib.request.urlopen(request, timeout=20):
        pass
    return url, {"XDG_CONFIG_HOME": str(tmp_path / "config")}


def test_a_password_opens_a_session_that_is_saved_until_logout(ready: Shell, served):
    url, home = served

    def login(password: str) -> Done:
        return ready.at_terminal(
            "login", "--url", url, "--name", "ada",
            types=f"{password}\n", once="Password: ", **home,
        )  # fmt: skip

    stranger = ready.run("jobs", "list", "--url", url, **home)
    wrong, entered = login("not it, this is"), login(PASSWORD)
    file = ready.folder / "config" / "windlass" / "logins.json"
    mode = file.stat().st_mode & 0o777
    made = ready.run("enqueue", "hello", "name=Ada", "--url", url, **home)
    me = ready.ok("whoami", "--json", WINDLASS_URL=url, **home).json
    left = ready.ok("logout", "--url", url, **home)

    assert (stranger.code, wrong.code) == (4, 4)
    assert "Signed in to" in entered.out
    assert PASSWORD not in entered.out
    assert mode == 0o600
    assert made.code == 0, made
    assert (me["name"], me["kind"]) == ("ada", "session")
    assert left.err == f"Signed out of {url}.\n"
    assert ready.run("jobs", "list", "--url", url, **home).code == 4
    assert json.loads(file.read_text()) == {}


def test_a_token_is_saved_only_if_it_is_valid(ready: Shell, served):
    url, home = served
    ready.write("good.token", ready.here("tokens", "create", "x", "--role", "superadmin").out)
    ready.write("bad.token", "wl_nothing")

    refused = ready.run("login", "--url", url, "--token-file", "bad.token", **home)
    ready.ok("login", "--url", url, "--token-file", "good.token", **home)

    assert refused.code == 4
    assert ready.ok("whoami", "--json", "--url", url, **home).json["kind"] == "token"


def test_without_a_terminal_there_is_no_password_prompt(ready: Shell):
    alone = ready.run("login", "--url", "http://127.0.0.1:9")

    assert alone.code == 2
    assert ready.run("login").code == 2


def test_a_token_of_a_tenant_needs_no_tenant_where_there_is_only_one(ready: Shell):
    made = ready.here("tokens", "create", "ci", "--json").json
    ready.here("tenants", "create", "acme")
    several = ready.attempt("tokens", "create", "ci")

    assert (made["role"], made["tenant_id"]) == ("user", "default")
    assert several.code == 2
    assert "tenant is missing." in several.err
    assert "A token with the role user belongs to one tenant, and there are 2." in several.err
    assert "Give one of acme, default (in a shell by -t), or the role superadmin." in several.err
