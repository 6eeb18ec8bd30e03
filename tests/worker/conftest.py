"""Tests of the worker run on a SQLite file with a clock that stands still."""

from tests.support.sqlite_fixtures import clock, engine, file_url, heard, seconds, storage

__all__ = ["clock", "engine", "file_url", "heard", "seconds", "storage"]
