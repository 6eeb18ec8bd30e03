"""On a SQLite file, at a time that stands still."""

from tests.support.sqlite_fixtures import clock, engine, file_url, heard, seconds, storage

__all__ = ["clock", "engine", "file_url", "heard", "seconds", "storage"]
