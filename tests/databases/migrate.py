"""The schema every test database carries."""


def migrate(url: str) -> None:
    """Bring the empty database at `url` to the newest schema."""
    from windlass.storage.migrate import migrate_now

    migrate_now(url)
