"""Bugs around a restore or promotion, and in the search for damage."""

from collections.abc import Sequence

from tests.mutants.mutant import Mutant

_EPOCH = "tests/conformance/leases/test_epoch.py"
_ENGINE = "tests/engine/leases/test_epochs.py"
_GREATER = (f"{_EPOCH}::test_tokens_of_a_new_epoch_exceed_all_earlier_ones",)
_HANDED_BACK = (f"{_EPOCH}::test_running_jobs_are_released_and_their_attempts_not_counted",)

MUTANTS: Sequence[Mutant] = (
    Mutant(
        name="sqlite: tokens of an earlier epoch given again",
        file="storage/sqlite/sql/leases/claim.sql",
        old="max(lease_token, coalesce((select token_floor from windlass_installation), 0)) + 1",
        new="lease_token + 1",
        tests=_GREATER,
    ),
    Mutant(
        name="postgresql: tokens of an earlier epoch given again",
        file="storage/postgres/sql/leases/claim.sql",
        old="greatest(j.lease_token, (select token_floor from windlass_installation)) + 1",
        new="j.lease_token + 1",
        tests=_GREATER,
    ),
    Mutant(
        name="mariadb: tokens of an earlier epoch stored again",
        file="storage/mysql/sql/leases/claim.sql",
        old="greatest(lease_token, :token_floor) + 1",
        new="lease_token + 1",
        tests=(f"{_EPOCH}::test_a_holder_from_an_earlier_epoch_changes_nothing",),
    ),
    Mutant(
        name="mariadb: tokens of an earlier epoch told again",
        file="storage/mysql/claim.py",
        old="max(job.lease_token, floor) + 1",
        new="job.lease_token + 1",
        tests=_GREATER,
        database="mariadb",
    ),
    Mutant(
        name="epoch without its floor",
        file="storage/monitoring/installation.py",
        old='row["token_floor"] + TOKEN_STEP',
        new='row["token_floor"]',
        tests=_GREATER,
    ),
    Mutant(
        name="epoch that hands nothing back",
        file="storage/monitoring/installation.py",
        old="return await _release_running_jobs(session)",
        new="return 0",
        tests=_HANDED_BACK,
    ),
    Mutant(
        name="epoch that hands back one batch",
        file="storage/monitoring/installation.py",
        old='    while found := await session.run("list_leases", after=after, most=_BATCH):',
        new='    for found in [await session.run("list_leases", after=after, most=_BATCH)]:',
        tests=(f"{_EPOCH}::test_many_running_jobs_are_released",),
    ),
    Mutant(
        name="postgresql: every process begins an epoch",
        file="storage/monitoring/installation.py",
        old='if unless_on is not None and row["server"] == unless_on:',
        new="if False:",
        tests=(f"{_EPOCH}::test_processes_that_notice_a_new_server_together_begin_one_epoch",),
        database="postgresql",
    ),
    Mutant(
        name="epoch that no worker hears of",
        file="engine/leases/epochs.py",
        old="            raise EpochChanged",
        new="            pass",
        tests=(f"{_ENGINE}::test_a_heartbeat_reports_a_new_epoch",),
    ),
    Mutant(
        name="postgresql: epoch not begun on another server",
        file="engine/leases/epochs.py",
        old="elif noted != server:",
        new="elif False:",
        tests=(f"{_ENGINE}::test_a_heartbeat_from_another_server_begins_an_epoch",),
        database="postgresql",
    ),
    Mutant(
        name="epoch that a worker survives",
        file="worker/leases/renewal_thread.py",
        old="self._in_loop(self._worker.abandon)",
        new="pass",
        tests=("tests/worker/test_worker.py::test_a_worker_ends_when_its_database_was_restored",),
    ),
    Mutant(
        name="damage searched in the first rows only",
        file="storage/monitoring/integrity.py",
        old="            after = upto\n",
        new="            break\n",
        tests=(
            "tests/engine/monitoring/test_integrity.py::test_damage_beyond_the_first_rows_is_found",
        ),
    ),
)
