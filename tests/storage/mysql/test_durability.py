"""Warnings about servers that may lose acknowledged jobs."""

import pytest

from windlass.storage.mysql.database import warnings
from windlass.storage.storage import open_storage

SAFE = {
    "innodb_flush_log_at_trx_commit": "1",
    "innodb_doublewrite": "ON",
    "log_bin": "OFF",
    "sync_binlog": "0",
}


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({}, []),
        ({"innodb_flush_log_at_trx_commit": "0"}, ["innodb_flush_log_at_trx_commit"]),
        ({"innodb_flush_log_at_trx_commit": "2"}, ["innodb_flush_log_at_trx_commit"]),
        ({"innodb_flush_log_at_trx_commit": "3"}, []),
        ({"innodb_doublewrite": "OFF"}, ["innodb_doublewrite"]),
        ({"log_bin": "ON"}, ["sync_binlog"]),
        ({"log_bin": "ON", "sync_binlog": "1"}, []),
    ],
)
def test_each_setting_that_can_lose_jobs_is_named(settings, names):
    told = warnings(SAFE | settings)

    assert len(told) == len(names)
    assert all(name in warning for name, warning in zip(names, told, strict=True))


@pytest.mark.parametrize("database", ["mariadb"], indirect=True)
async def test_a_servers_own_settings_are_checked(database):
    storage = open_storage(database.url)

    told = await storage.database.warnings()

    assert all("The server runs with" in warning for warning in told)
    await storage.close()
