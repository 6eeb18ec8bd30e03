"""0013: links to set a password, which an inviter may hold, are void; other links and roles stay."""

from tests.databases.connect import execute
from tests.migrations.test_migrate import unmigrated  # noqa: F401  a fixture
from windlass.storage.migrate import downgrade, migrate

ID = "0197c0de-0000-7000-8000-000000000001"
FROM = "from windlass_tenants where id = 'default'"
BEFORE = [
    f"insert into windlass_users (id, name, created_at) select '{ID}', 'ada', created_at {FROM}",
    "insert into windlass_members (user_id, tenant_id, role, created_at) "
    f"select '{ID}', 'default', 'user', created_at {FROM}",
    *[
        "insert into windlass_links (hash, purpose, user_id, created_at, expires_at) "
        f"select '{letter * 64}', '{purpose}', '{ID}', created_at, created_at {FROM}"
        for letter, purpose in (("a", "login"), ("b", "password"))
    ],
]


async def test_links_to_set_a_password_are_void(unmigrated):  # noqa: F811  the fixture
    storage, url = unmigrated(), unmigrated.url
    await migrate(storage, to=12)
    for statement in BEFORE:
        execute(url, statement)

    await migrate(storage)
    links = execute(url, "select purpose from windlass_links")
    members = execute(url, "select role from windlass_members")
    await downgrade(storage, to=12)

    assert [tuple(row) for row in links] == [("login",)]
    assert [tuple(row) for row in members] == [("user",)]
    assert len(execute(url, "select role from windlass_members")) == 1
