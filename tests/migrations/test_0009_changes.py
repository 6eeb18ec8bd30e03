"""0009: operations that were there before are there after it, and after it was taken back."""

from tests.databases.connect import execute
from tests.migrations.test_migrate import unmigrated  # noqa: F401  a fixture
from windlass.storage.migrate import downgrade, migrate

ID = "0197c0de-0000-7000-8000-00000000000{}"
OPERATION = (
    "insert into windlass_operations (id, action, query, total, done, actor, actor_kind, actor_name, "
    f"created_at, taken_until{{column}}) select '{ID}', '{{action}}', 'state:queued', 1, 1, 'user:1', "
    "'session', 'ada', created_at, created_at{value} from windlass_tenants where id = 'default'"
)
ITEM = (
    "insert into windlass_operation_items (operation_id, place, job_id, state, note) "
    f"values ('{ID}', 1, '{ID}', 'done', 'canceled')"
)


def stored(url):
    """Which operations there are, and whose items."""
    operations = execute(url, "select id, action from windlass_operations order by id")
    items = execute(url, "select operation_id, note from windlass_operation_items order by 1")
    return (
        [(str(id)[-1], action) for id, action in operations],
        [(str(id)[-1], note) for id, note in items],
    )


async def test_operations_and_their_items_stay(unmigrated):  # noqa: F811  the fixture
    storage, url = unmigrated(), unmigrated.url
    await migrate(storage, to=7)
    execute(url, OPERATION.format(1, action="cancel", column="", value=""))
    execute(url, ITEM.format(1, 1))

    await migrate(storage)
    after = stored(url)
    update = {"action": "update", "column": ", changes", "value": ", '{}'"}
    execute(url, OPERATION.format(2, **update))
    execute(url, ITEM.format(2, 2))
    both = stored(url)
    await downgrade(storage, to=7)

    assert after == ([("1", "cancel")], [("1", "canceled")])
    assert both == ([("1", "cancel"), ("2", "update")], [("1", "canceled"), ("2", "canceled")])
    assert stored(url) == after
    await migrate(storage)
    assert stored(url) == after
