"""0015: definitions keep their kinds; those of the kind remote are kept when it is taken back."""

from tests.databases.connect import execute
from tests.migrations.test_migrate import unmigrated  # noqa: F401  a fixture
from windlass.storage.migrate import downgrade, migrate


def insert(url, key, kind):
    quote = "`" if url.startswith(("mysql", "mariadb")) else '"'
    execute(
        url,
        f"insert into windlass_definitions ({quote}key{quote}, title, kind, description, backoff, "
        "payload_schema, default_payload, tags, metadata, edited, runs_after, code_hash, created_at, updated_at) "
        f"select '{key}', '{key}', '{kind}', '', null, '{{}}', '{{}}', '[]', '{{}}', '[]', '[]', '', "
        "created_at, created_at from windlass_tenants where id = 'default'",
    )


def kinds(url):
    return [
        kind for (kind,) in execute(url, "select kind from windlass_definitions order by title")
    ]


async def test_definitions_keep_their_kinds(unmigrated):  # noqa: F811  the fixture
    storage, url = unmigrated(), unmigrated.url
    await migrate(storage, to=14)
    for kind in ("code", "command", "path"):
        insert(url, kind, kind)

    await migrate(storage)
    insert(url, "remote", "remote")
    after = kinds(url)
    await downgrade(storage, to=14)

    assert after == ["code", "command", "path", "remote"]
    assert kinds(url) == ["code", "command", "path", "path"]
