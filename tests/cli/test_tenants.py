"""`windlass tenants …` and `windlass members …`."""

from tests.api.serving import serving
from tests.cli.shell import Shell


def test_a_tenant_is_made_limited_suspended_and_let_go_on(ready: Shell):
    made = ready.ok("tenants", "create", "acme", "--name", "Acme", "--max-running", "5", "--json")
    limited = ready.here(
        "tenants", "limits", "acme", "--max-running", "none", "--max-open", "9", "--json"
    )
    alone = ready.run("tenants", "suspend", "acme")
    suspended = ready.here("tenants", "suspend", "acme", "--yes", "--json")
    resumed = ready.here("tenants", "resume", "acme", "--json")

    assert (made.json["name"], made.json["max_running"], made.json["weight"]) == ("Acme", 5, 1)
    assert (limited.json["max_running"], limited.json["max_open"]) == (None, 9)
    assert alone.code == 2
    assert (suspended.json["state"], resumed.json["state"]) == ("suspended", "active")
    assert "acme" in ready.at_terminal("tenants", "list").out
    assert "no limit" in ready.at_terminal("tenants", "show", "acme").out


def test_a_limit_that_is_no_number_is_refused(ready: Shell):
    ready.here("tenants", "create", "acme")

    assert ready.run("tenants", "limits", "acme", "--max-open", "many").code == 2
    assert ready.run("tenants", "limits", "acme", "--weight", "none").code == 2
    assert ready.run("tenants", "show", "nobody").code == 3


def test_a_deleted_tenants_open_jobs_end(ready: Shell):
    ready.here("tenants", "create", "acme")
    id = ready.here("enqueue", "hello", "name=Ada", "-t", "acme").out.strip()

    alone = ready.run("tenants", "delete", "acme")
    looked = ready.here("tenants", "delete", "acme", "--dry-run", "--json").json
    done = ready.ok("tenants", "delete", "acme", "--yes", "--json")

    assert alone.code == 2
    assert looked["state"] == "active"
    assert done.json == {"closed": 1}
    assert ready.here("jobs", "show", id, "--json").json["state"] == "dead_letter"


def test_somebody_is_invited_given_a_role_and_removed(ready: Shell):
    ready.here("tenants", "create", "acme")

    link = ready.ok("members", "invite", "ada", "-t", "acme", "--at", "https://jobs.example.com")
    changed = ready.here("members", "role", "ada", "tenant_admin", "-t", "acme", "--json").json
    listed = ready.here("members", "list", "-t", "acme", "--json").json["items"]
    removed = ready.here("members", "remove", "ada", "-t", "acme", "--yes")

    assert link.out.startswith("https://jobs.example.com/invitation?link=wlk_")
    assert "ada is invited as user in acme" in link.err
    assert changed["role"] == "tenant_admin"
    assert [(each["name"], each["role"], each["pending"]) for each in listed] == [
        ("ada", "tenant_admin", True)
    ]
    assert removed.err == "ada is removed.\n"
    assert ready.here("members", "list", "-t", "acme").err == "Nobody is a member.\n"
    assert ready.run("members", "remove", "ada", "-t", "acme", "--yes").code == 3


def test_the_same_goes_over_http(ready: Shell):
    with serving(f"sqlite:///{ready.folder / 'windlass.db'}") as url:
        ready.ok("tenants", "create", "acme", "--url", url)
        ready.here("members", "invite", "ada", "-t", "acme", "--url", url)
        names = ready.here("tenants", "list", "-o", "id", "--url", url).lines

    assert "acme" in names
    assert ready.here("members", "list", "-t", "acme", "-o", "id").lines == ["ada"]
