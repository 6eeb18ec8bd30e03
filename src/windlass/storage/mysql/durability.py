"""Whether a server keeps what it acknowledges."""

from collections.abc import Iterator, Mapping, Sequence

#: The settings that decide it.
WATCHED = ("innodb_flush_log_at_trx_commit", "innodb_doublewrite", "log_bin", "sync_binlog")


def warnings(settings: Mapping[str, str]) -> Sequence[str]:
    """What may be lost under these settings, in words; empty if nothing."""
    return list(_warnings({name: value.lower() for name, value in settings.items()}))


def _warnings(settings: Mapping[str, str]) -> Iterator[str]:
    flush = settings.get("innodb_flush_log_at_trx_commit", "1")
    if flush not in ("1", "3"):  # 3 is MariaDB's: as safe as 1
        yield (
            f"The server runs with innodb_flush_log_at_trx_commit = {flush}: "
            "acknowledged jobs can be lost in a crash"
        )
    if settings.get("innodb_doublewrite", "on") in ("off", "0", "detect_only"):
        yield (
            "The server runs with innodb_doublewrite off: "
            "a crash can leave pages half written, and jobs with them"
        )
    if settings.get("log_bin", "off") in ("on", "1") and settings.get("sync_binlog", "1") != "1":
        yield (
            f"The server runs with sync_binlog = {settings['sync_binlog']}: after a crash of the "
            "machine its replicas can lack jobs it has acknowledged"
        )
