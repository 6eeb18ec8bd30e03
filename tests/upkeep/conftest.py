"""On a SQLite file, at a time that stands still."""

from tests.one_file import clock, engine, file_url, heard, seconds, storage

__all__ = ["clock", "engine", "file_url", "heard", "seconds", "storage"]
