"""`windlass tenants …` and `windlass members …`."""

from tests.support.processes.shell import Shell
from tests.support.servers.api_server import serving


def test_a_tenant_is_created_limited_suspended_and_resumed(ready: Shell):
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


def test_a_limit_that_is_not_a_number_is_refused(ready: Shell):
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


def test_a_deleted_tenants_id_cannot_be_used_again(ready: Shell):
    ready.here("tenants", "create", "acme", "--max-open", "5")
    ready.here("tenants", "suspend", "acme", "--yes")

    known = ready.run("tenants", "create", "acme")
    shown = ready.here("tenants", "change", "acme", "--name", "Acme", "--json").json
    nothing = ready.run("tenants", "change", "acme")
    ready.here("tenants", "delete", "acme", "--yes")
    deleted = ready.run("tenants", "create", "acme")

    assert (known.code, deleted.code, nothing.code) == (5, 5, 2)
    assert "there is a tenant" in known.err
    assert "was deleted" in deleted.err
    assert (shown["state"], shown["max_open"], shown["name"]) == ("suspended", 5, "Acme")


def test_a_deleted_tenant_can_be_purged_repeatedly(ready: Shell):
    ready.here("tenants", "create", "acme")
    id = ready.here("enqueue", "hello", "name=Ada", "-t", "acme").out.strip()

    alone = ready.run("tenants", "delete", "acme", "--purge")
    done = ready.ok("tenants", "delete", "acme", "--purge", "--yes", "--json")
    again = ready.ok("tenants", "delete", "acme", "--purge", "--yes")
    [entry, *_] = [
        entry
        for entry in ready.here("audit", "list", "--json").json["items"]
        if entry["action"] == "tenants.purge"
    ][::-1]

    assert alone.code == 2
    assert (done.json["closed"], done.json["rows"]["jobs"], done.json["more"]) == (1, 1, False)
    assert "Rows that were removed: 0." in again.err
    assert ready.run("jobs", "show", id).code == 3
    assert (entry["target_id"], ["jobs", 1] in entry["after"]["rows"]) == ("acme", True)


def test_a_member_is_invited_given_a_role_and_removed(ready: Shell):
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
    assert ready.here("members", "list", "-t", "acme").err == "No members.\n"
    assert ready.run("members", "remove", "ada", "-t", "acme", "--yes").code == 3


def test_over_http_it_is_the_same(ready: Shell):
    with serving(f"sqlite:///{ready.folder / 'windlass.db'}") as url:
        ready.ok("tenants", "create", "acme", "--url", url)
        ready.here("members", "invite", "ada", "-t", "acme", "--url", url)
        names = ready.here("tenants", "list", "-o", "id", "--url", url).lines

    assert "acme" in names
    assert ready.here("members", "list", "-t", "acme", "-o", "id").lines == ["ada"]
