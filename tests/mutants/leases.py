"""Bugs around leases: claim, limits, renew, progress and logs."""

from collections.abc import Sequence

from tests.mutants.mutant import Mutant

_CLAIM = "tests/conformance/leases/claim/test_claim.py"
_DEFINITIONS = "tests/conformance/leases/claim/test_claim_definitions.py"
_TENANTS = "tests/conformance/leases/claim/test_fair_share.py"
_BLOCKED = ("tests/conformance/races/test_lock_waits.py::test_a_claim_skips_rows_locked_by_others",)
_BEGINS = (f"{_CLAIM}::test_a_claim_starts_an_attempt",)
_UNKNOWN = (f"{_DEFINITIONS}::test_jobs_of_an_unknown_definition_wait_for_a_worker_that_knows_it",)
_DISABLED = (f"{_DEFINITIONS}::test_a_definition_disabled_after_the_survey_is_not_claimed",)
_SUSPENDED = (f"{_TENANTS}::test_a_tenant_suspended_after_the_survey_is_not_claimed_from",)
_SHARE = (f"{_TENANTS}::test_claims_of_two_lines_of_a_tenant_respect_its_share",)
_PAUSED = (
    "tests/conformance/leases/claim/test_queues.py::test_a_queue_paused_after_the_survey_is_not_claimed_from",
)
_EXPIRED = (f"{_CLAIM}::test_a_job_past_its_start_deadline_is_not_claimed",)
_LIMITS = (
    "tests/conformance/races/test_claim.py::test_claim_against_claim_under_a_limit",
    "tests/conformance/leases/claim/test_limits.py::test_a_limit_is_never_exceeded_with_many_workers",
)
_RENEW = ("tests/conformance/leases/test_renew.py::test_a_stale_token_renews_nothing",)
_REPORT = (
    "tests/conformance/leases/finish/test_report.py::test_progress_of_a_stale_token_is_not_recorded",
)
_GUARDS = "tests/conformance/leases/test_lease_guards.py"
_LOG = (
    "tests/conformance/jobs/reads/test_log.py::test_a_stale_token_adds_no_line",
    f"{_GUARDS}::test_only_the_holder_logs",
)
_HOLDER_RENEWS = (f"{_GUARDS}::test_only_the_holder_renews",)
_HOLDER_REPORTS = (f"{_GUARDS}::test_only_the_holder_reports_progress",)
_HOLDER_LOGS = (f"{_GUARDS}::test_only_the_holder_logs",)
_HOLDER_STOPS = (f"{_GUARDS}::test_only_the_holder_receives_the_stop_request",)

_SQLITE = "storage/sqlite/sql/"
_POSTGRES = "storage/postgres/sql/"
_MARIADB = "storage/mysql/sql/"

_CLAIMED: Sequence[Mutant] = (
    Mutant(
        name="postgresql: claim without skip locked",
        file=f"{_POSTGRES}leases/claim.sql",
        old="for update skip locked",
        new="for update",
        times=2,
        tests=_BLOCKED,
    ),
    Mutant(
        name="mariadb: claim without skip locked",
        file=f"{_MARIADB}leases/claim.sql",
        old="for update skip locked",
        new="for update",
        tests=_BLOCKED,
    ),
    Mutant(
        name="sqlite: attempts not counted",
        file=f"{_SQLITE}leases/claim.sql",
        old="attempts = attempts + 1",
        new="attempts = max(attempts, 1)",
        tests=("tests/conformance/leases/claim/test_claim.py",),
    ),
    Mutant(
        name="postgresql: attempts not counted",
        file=f"{_POSTGRES}leases/claim.sql",
        old="attempts = j.attempts + 1",
        new="attempts = greatest(j.attempts, 1)",
        tests=("tests/conformance/leases/claim/test_claim.py",),
    ),
    Mutant(
        name="mariadb: attempts not counted",
        file=f"{_MARIADB}leases/claim.sql",
        old="attempts = attempts + 1",
        new="attempts = greatest(attempts, 1)",
        tests=("tests/conformance/leases/claim/test_claim.py",),
    ),
    Mutant(
        name="sqlite: tokens that do not rise",
        file=f"{_SQLITE}leases/claim.sql",
        old="max(lease_token, coalesce((select token_floor from windlass_installation), 0)) + 1",
        new="max(lease_token, attempts + 1)",
        tests=(f"{_CLAIM}::test_a_released_attempt_is_not_counted_but_uses_up_its_token",),
    ),
    Mutant(
        name="sqlite: claim what the worker does not know",
        file=f"{_SQLITE}leases/claim.sql",
        old="where key in {known_keys} and enabled",
        new="where enabled",
        tests=_UNKNOWN,
    ),
    Mutant(
        name="postgresql: claim what the worker does not know",
        file=f"{_POSTGRES}leases/claim.sql",
        old="key = any(cast(:known_keys as text[])) and enabled",
        new="enabled",
        tests=_UNKNOWN,
    ),
    Mutant(
        name="sqlite: claim a disabled definition",
        file=f"{_SQLITE}leases/claim.sql",
        old=" and enabled and gate = ''",
        new="",
        tests=_DISABLED,
    ),
    Mutant(
        name="postgresql: claim a disabled definition",
        file=f"{_POSTGRES}leases/claim.sql",
        old=" and enabled and gate = ''",
        new="",
        tests=_DISABLED,
    ),
    Mutant(
        name="mariadb: claim a disabled definition",
        file=f"{_MARIADB}leases/claim.sql",
        old=" and enabled = 1 and gate = ''",
        new="",
        tests=_DISABLED,
    ),
    Mutant(
        name="sqlite: claim a disabled definition with a limit",
        file=f"{_SQLITE}leases/claim.sql",
        old="d.enabled and",
        new="",
        tests=_DISABLED,
    ),
    Mutant(
        name="postgresql: claim a disabled definition with a limit",
        file=f"{_POSTGRES}leases/claim.sql",
        old="d.enabled and",
        new="",
        tests=_DISABLED,
    ),
    Mutant(
        name="mariadb: claim a disabled definition with a limit",
        file=f"{_MARIADB}leases/claim.sql",
        old="d.enabled = 1 and",
        new="",
        tests=_DISABLED,
    ),
    Mutant(
        name="sqlite: claim from a suspended tenant",
        file=f"{_SQLITE}leases/claim.sql",
        old=" and t.state = 'active'",
        new="",
        tests=_SUSPENDED,
    ),
    Mutant(
        name="postgresql: claim from a suspended tenant",
        file=f"{_POSTGRES}leases/claim.sql",
        old=" and t.state = 'active'",
        new="",
        tests=_SUSPENDED,
    ),
    Mutant(
        name="mariadb: claim from a suspended tenant",
        file=f"{_MARIADB}leases/claim.sql",
        old=" and t.state = 'active'",
        new="",
        tests=_SUSPENDED,
    ),
    Mutant(
        name="sqlite: claim from a paused queue",
        file=f"{_SQLITE}leases/claim.sql",
        old="where q.paused_at is null",
        new="where true",
        tests=_PAUSED,
    ),
    Mutant(
        name="postgresql: claim from a paused queue",
        file=f"{_POSTGRES}leases/claim.sql",
        old="where q.paused_at is null",
        new="where true",
        tests=_PAUSED,
    ),
    Mutant(
        name="mariadb: claim from a paused queue",
        file=f"{_MARIADB}leases/claim.sql",
        old="q.paused_at is null and",
        new="",
        tests=_PAUSED,
    ),
    Mutant(
        name="sqlite: claim more than a tenant's share",
        file=f"{_SQLITE}leases/claim.sql",
        old=" or place_of_tenant > tenant_limit",
        new="",
        tests=_SHARE,
    ),
    Mutant(
        name="postgresql: claim more than a tenant's share",
        file=f"{_POSTGRES}leases/claim.sql",
        old="from candidates where tenant_place <= tenant_limit",
        new="from candidates",
        tests=_SHARE,
    ),
    Mutant(
        name="mariadb: claim more than a tenant's share",
        file="storage/mysql/claim.py",
        old="if left[who] > 0:",
        new="if who in left:",
        tests=_SHARE,
    ),
    Mutant(
        name="sqlite: claim a job past its time to start",
        file=f"{_SQLITE}leases/claim.sql",
        old="(c.expires_at is null or c.expires_at > {now} or c.started_at is not null)",
        new="true",
        tests=_EXPIRED,
    ),
    Mutant(
        name="postgresql: claim a job past its time to start",
        file=f"{_POSTGRES}leases/claim.sql",
        old="(j.expires_at is null or j.expires_at > {now} or j.started_at is not null)",
        new="true",
        tests=_EXPIRED,
    ),
    Mutant(
        name="mariadb: claim a job past its time to start",
        file=f"{_MARIADB}leases/claim.sql",
        old="(j.expires_at is null or j.expires_at > {now} or j.started_at is not null)",
        new="true",
        tests=_EXPIRED,
    ),
)

_LIMITED: Sequence[Mutant] = (
    Mutant(
        name="postgresql: limits counted without a lock",
        file=f"{_POSTGRES}leases/limits/lock_limits.sql",
        old=" for update skip locked",
        new="",
        tests=_LIMITS,
    ),
    Mutant(
        name="mariadb: limits counted without a lock",
        file=f"{_MARIADB}leases/limits/lock_limits.sql",
        old="\nfor update skip locked",
        new="",
        tests=_LIMITS,
    ),
    Mutant(
        name="limits counted before the claim's transaction",
        file="storage/leases/leases.py",
        old="            rooms = await _limit_capacity(session, limits, [quota.line for quota in quotas])\n"
        "            # In no fixed order, or the first line would always have the little room there is.\n"
        "            shuffled = random.sample(quotas, len(quotas))\n"
        "            allowed = fair_share.limit_quotas(shuffled, limits, rooms)\n",
        new="            allowed = list(quotas)\n",
        tests=(
            "tests/conformance/leases/claim/test_limits.py::test_a_definitions_limit_is_respected",
        ),
    ),
    Mutant(
        name="starts not counted by a rate",
        file="storage/leases/leases.py",
        old="            await _note_starts(session, limits, leases)\n",
        new="",
        tests=(
            "tests/conformance/leases/claim/test_limits_by_key.py::test_a_rate_limits_starts_in_any_minute",
        ),
    ),
)

_KEPT: Sequence[Mutant] = (
    Mutant(
        name="sqlite: renewal by id only",
        file=f"{_SQLITE}leases/renew.sql",
        old=" and j.lease_token = h.token",
        new="",
        tests=_RENEW,
    ),
    Mutant(
        name="postgresql: renewal by id only",
        file=f"{_POSTGRES}leases/renew.sql",
        old="((j.id, j.lease_token) in (select id, token from {held} h)) is true",
        new="true",
        tests=_RENEW,
    ),
    Mutant(
        name="mariadb: renewal by id only",
        file=f"{_MARIADB}leases/renew.sql",
        old=" and j.lease_token = h.token",
        new="",
        times=2,
        tests=_RENEW,
    ),
    Mutant(
        name="sqlite: progress by id only",
        file=f"{_SQLITE}leases/record_progress.sql",
        old=" and j.lease_token = r.token",
        new="",
        tests=_REPORT,
    ),
    Mutant(
        name="mariadb: progress by id only",
        file=f"{_MARIADB}leases/record_progress.sql",
        old=" and j.lease_token = r.token",
        new="",
        times=2,
        tests=_REPORT,
    ),
    Mutant(
        name="sqlite: log lines by id only",
        file=f"{_SQLITE}jobs/logs/append_logs.sql",
        old=" and j.lease_token = l.token",
        new="",
        tests=_LOG,
    ),
    Mutant(
        name="postgresql: log lines by id only",
        file=f"{_POSTGRES}jobs/logs/append_logs.sql",
        old="j.id = g.id and j.lease_token = g.token",
        new="j.id = g.id",
        tests=_LOG,
    ),
    Mutant(
        name="mariadb: log lines by id only",
        file=f"{_MARIADB}jobs/logs/append_logs.sql",
        old="on j.id = g.id and j.lease_token = g.token",
        new="on j.id = g.id",
        tests=_LOG,
    ),
)

_HELD: Sequence[Mutant] = (
    Mutant(
        name="sqlite: renewal by any worker",
        file=f"{_SQLITE}leases/renew.sql",
        old="j.worker_id = :worker_id",
        new="j.worker_id is not null",
        times=1,
        tests=_HOLDER_RENEWS,
    ),
    Mutant(
        name="postgresql: renewal by any worker",
        file=f"{_POSTGRES}leases/renew.sql",
        old="j.worker_id = :worker_id",
        new="j.worker_id is not null",
        times=1,
        tests=_HOLDER_RENEWS,
    ),
    Mutant(
        name="mariadb: renewal by any worker",
        file=f"{_MARIADB}leases/renew.sql",
        old="j.worker_id = :worker_id",
        new="j.worker_id is not null",
        times=2,
        tests=_HOLDER_RENEWS,
    ),
    Mutant(
        name="sqlite: progress by any worker",
        file=f"{_SQLITE}leases/record_progress.sql",
        old="j.worker_id = :worker_id",
        new="j.worker_id is not null",
        times=1,
        tests=_HOLDER_REPORTS,
    ),
    Mutant(
        name="postgresql: progress by any worker",
        file=f"{_POSTGRES}leases/record_progress.sql",
        old="j.worker_id = :worker_id",
        new="j.worker_id is not null",
        times=1,
        tests=_HOLDER_REPORTS,
    ),
    Mutant(
        name="mariadb: progress by any worker",
        file=f"{_MARIADB}leases/record_progress.sql",
        old="j.worker_id = :worker_id",
        new="j.worker_id is not null",
        times=2,
        tests=_HOLDER_REPORTS,
    ),
    Mutant(
        name="sqlite: log lines by any worker",
        file=f"{_SQLITE}jobs/logs/append_logs.sql",
        old="j.worker_id = :worker_id",
        new="j.worker_id is not null",
        times=2,
        tests=_HOLDER_LOGS,
    ),
    Mutant(
        name="postgresql: log lines by any worker",
        file=f"{_POSTGRES}jobs/logs/append_logs.sql",
        old="j.worker_id = :worker_id",
        new="j.worker_id is not null",
        times=1,
        tests=_HOLDER_LOGS,
    ),
    Mutant(
        name="mariadb: log lines by any worker",
        file=f"{_MARIADB}jobs/logs/append_logs.sql",
        old="j.worker_id = :worker_id",
        new="j.worker_id is not null",
        times=1,
        tests=_HOLDER_LOGS,
    ),
    Mutant(
        name="sqlite: a wish to stop told to any worker",
        file="storage/sql/leases/cancel_requests.sql",
        old="j.worker_id = :worker_id",
        new="j.worker_id is not null",
        times=1,
        tests=_HOLDER_STOPS,
    ),
    Mutant(
        name="postgresql: a wish to stop told to any worker",
        file=f"{_POSTGRES}leases/cancel_requests.sql",
        old="j.worker_id = :worker_id",
        new="j.worker_id is not null",
        times=1,
        tests=_HOLDER_STOPS,
    ),
    Mutant(
        name="mariadb: a wish to stop told to any worker",
        file="storage/sql/leases/cancel_requests.sql",
        database="mariadb",
        old="j.worker_id = :worker_id",
        new="j.worker_id is not null",
        times=1,
        tests=_HOLDER_STOPS,
    ),
)

MUTANTS: Sequence[Mutant] = (*_CLAIMED, *_LIMITED, *_KEPT, *_HELD)
