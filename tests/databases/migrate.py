"""The schema every test database carries."""

import asyncio


def migrate(url: str) -> None:
    """Bring the database at `url` to the newest schema, from blocking code."""
    asyncio.run(_migrate(url))


async def _migrate(url: str) -> None:
    from windlass.storage import migrate
    from windlass.storage.storage import open_storage

    storage = open_storage(url)
    try:
        await migrate.migrate(storage)
    finally:
        await storage.close()
