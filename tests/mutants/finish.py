"""Bugs at the end of an attempt: finish, release and reap."""

from collections.abc import Sequence

from tests.mutants.mutant import Mutant

_FINISH = "tests/conformance/leases/finish/test_finish.py"
_REAP = "tests/conformance/leases/test_reap.py"
_RELEASE = "tests/conformance/leases/finish/test_release.py"
_GUARDS = "tests/conformance/leases/test_lease_guards.py"
_STALE = (f"{_GUARDS}::test_a_stale_token_records_no_end",)
_FOREIGN = (f"{_GUARDS}::test_another_worker_records_no_end",)
_RELEASED = (f"{_RELEASE}::test_a_released_job_is_queued_again_and_its_attempt_not_counted",)
_DELAYED = (f"{_FINISH}::test_a_failed_attempt_is_retried_after_its_delay",)
_DEATHS = (f"{_REAP}::test_worker_deaths_accumulate_until_the_job_is_dead_lettered",)
_STOPPED = (f"{_FINISH}::test_a_cancel_request_overrides_every_outcome_but_success",)
_COUNTED = ("tests/conformance/monitoring/test_counts.py",)
_LIMITED = (
    "tests/conformance/leases/claim/test_limits.py::test_a_job_frees_its_place_under_a_limit_by",
)
_KEYS = (
    "tests/conformance/jobs/enqueue/test_dedupe_keys.py"
    "::test_a_dedupe_key_without_a_window_is_free_after_the_end",
)
_POLICIES = ("tests/conformance/jobs/enqueue/test_parent_policies.py",)
_PARENTS = (
    "tests/conformance/jobs/enqueue/test_parents.py::test_a_child_waits_until_every_parent_has_completed",
)

_SQLITE = "storage/sqlite/sql/leases/finish.sql"
_POSTGRES = "storage/postgres/sql/leases/finish.sql"
_MARIADB = "storage/mysql/sql/leases/finish.sql"
_MARIADB_PLAIN = "storage/mysql/sql/leases/fast_finish.sql"

_TOKENS: Sequence[Mutant] = (
    Mutant(
        name="sqlite: finish with any token",
        file=_SQLITE,
        old="j.id = f.id and j.lease_token = f.token and",
        new="j.id = f.id and",
        tests=_STALE,
    ),
    Mutant(
        name="postgresql: plain success with any token",
        file=_POSTGRES,
        old="when (j.id, j.lease_token) in (\n"
        "                select * from unnest(\n"
        "                    cast(:finishes__plain_ids as uuid[]), "
        "cast(:finishes__plain_tokens as bigint[])\n"
        "                )\n            ) then",
        new="when j.id = any(cast(:finishes__plain_ids as uuid[])) then",
        tests=_STALE,
    ),
    Mutant(
        name="postgresql: finish with any token",
        file=_POSTGRES,
        old="else false  -- another lease than the reported one",
        new="else true",
        tests=_STALE,
    ),
    Mutant(
        name="mariadb: finish with any token",
        file=_MARIADB,
        old="j.lease_token = f.token",
        new="true",
        times=5,
        tests=_STALE,
    ),
    Mutant(
        name="mariadb: plain success with any token",
        file=_MARIADB_PLAIN,
        old="j.id = f.id and j.lease_token = f.token",
        new="j.id = f.id",
        times=2,
        tests=_STALE,
    ),
    Mutant(
        name="complete(tx) with a lost lease",
        file="engine/leases/leases.py",
        old='        raise Stopped("lost")',
        new="        pass",
        tests=(
            "tests/worker/reporting/test_log_writer.py::test_a_completion_for_a_lost_lease_is_refused",
        ),
    ),
)

_WORKERS: Sequence[Mutant] = (
    Mutant(
        name="sqlite: finish by any worker",
        file=_SQLITE,
        old="else j.worker_id = :worker_id end",
        new="else true end",
        tests=_FOREIGN,
    ),
    Mutant(
        name="postgresql: plain success by any worker",
        file=_POSTGRES,
        old=") then j.worker_id = :worker_id",
        new=") then coalesce(j.worker_id, :worker_id) is not null",
        tests=_FOREIGN,
    ),
    Mutant(
        name="postgresql: finish by any worker",
        file=_POSTGRES,
        old="when false then j.worker_id = :worker_id",
        new="when false then true",
        tests=_FOREIGN,
    ),
    Mutant(
        name="mariadb: finish by any worker",
        file=_MARIADB,
        old="j.worker_id = :worker_id",
        new="j.worker_id is not null",
        times=2,
        tests=_FOREIGN,
    ),
    Mutant(
        name="mariadb: plain success by any worker",
        file=_MARIADB_PLAIN,
        old=" and j.worker_id = :worker_id",
        new="",
        times=2,
        tests=_FOREIGN,
    ),
)

#: `lock_expired` and `finish` both look at the time of the lease: either alone
#: is enough, so that leaving one out plants no bug.
_REAPED: Sequence[Mutant] = (
    Mutant(
        name="sqlite: worker deaths not counted",
        file=_SQLITE,
        old="j.worker_deaths + (f.outcome = 'lost' and f.spared is null)",
        new="j.worker_deaths",
        times=2,
        tests=_DEATHS,
    ),
    Mutant(
        name="postgresql: worker deaths not counted",
        file=_POSTGRES,
        old="worker_deaths + case when {worker_died} then 1 else 0 end",
        new="worker_deaths",
        times=2,
        tests=_DEATHS,
    ),
    Mutant(
        name="mariadb: worker deaths not counted",
        file=_MARIADB,
        old="j.worker_deaths + case when f.outcome = 'lost' and f.spared is null then 1 else 0 end",
        new="j.worker_deaths",
        times=2,
        tests=_DEATHS,
    ),
)

_ATTEMPTS: Sequence[Mutant] = (
    Mutant(
        name="sqlite: a released attempt counted",
        file=_SQLITE,
        old="f.outcome = 'released' or f.uncounted is not null",
        new="f.uncounted is not null",
        times=2,
        tests=_RELEASED,
    ),
    Mutant(
        name="postgresql: a released attempt counted",
        file=_POSTGRES,
        old="f_outcome = 'released' or f ->> 'uncounted' is not null",
        new="f ->> 'uncounted' is not null",
        tests=_RELEASED,
    ),
    Mutant(
        name="mariadb: a released attempt counted",
        file=_MARIADB,
        old="f.outcome = 'released' or f.uncounted is not null",
        new="f.uncounted is not null",
        times=2,
        tests=_RELEASED,
    ),
    Mutant(
        name="sqlite: backoff ignored",
        file=_SQLITE,
        old="f.delay > 0",
        new="false",
        tests=_DELAYED,
    ),
    Mutant(
        name="postgresql: backoff ignored",
        file=_POSTGRES,
        old="f_delay > 0",
        new="false",
        tests=_DELAYED,
    ),
    Mutant(
        name="mariadb: backoff ignored",
        file=_MARIADB,
        old="f.delay > 0",
        new="false",
        tests=_DELAYED,
    ),
    Mutant(
        name="sqlite: a wish to stop forgotten by the end",
        file=_SQLITE,
        old="else coalesce(j.cancel_to, f.state) end",
        new="else f.state end",
        tests=_STOPPED,
    ),
    Mutant(
        name="postgresql: a wish to stop forgotten by the end",
        file=_POSTGRES,
        old="else coalesce(j.cancel_to, f ->> 'state') end",
        new="else f ->> 'state' end",
        tests=_STOPPED,
    ),
    Mutant(
        name="mariadb: a wish to stop forgotten by the end",
        file=_MARIADB,
        old="else coalesce(j.cancel_to, f.state) end",
        new="else f.state end",
        tests=_STOPPED,
    ),
)

_BESIDE: Sequence[Mutant] = (
    Mutant(
        name="sqlite: an end that leaves the counters alone",
        file=_SQLITE,
        old="-count(*) as running,",
        new="0 as running,",
        tests=_COUNTED,
    ),
    Mutant(
        name="postgresql: an end that leaves the counters alone",
        file=_POSTGRES,
        old="-count(*) as running,",
        new="0 as running,",
        tests=_COUNTED,
    ),
    Mutant(
        name="mariadb: an end that leaves the counters alone",
        file=_MARIADB,
        old="sum(e.state = 'queued'), -count(*),",
        new="sum(e.state = 'queued'), 0,",
        tests=_COUNTED,
    ),
    Mutant(
        name="mariadb: a plain end that leaves the counters alone",
        file=_MARIADB_PLAIN,
        old="-ended, ended, ended",
        new="0, ended, ended",
        tests=_COUNTED,
    ),
    Mutant(
        name="sqlite: an end that keeps its part of a limit",
        file=_SQLITE,
        old="cross join windlass_holds h on h.job_id = f.id",
        new="cross join windlass_holds h on h.job_id = f.id and f.outcome = 'succeeded'",
        tests=_LIMITED,
    ),
    Mutant(
        name="postgresql: an end that keeps its part of a limit",
        file=_POSTGRES,
        old="from ending where exists (select from windlass_holds)",
        new="from ending where f is null and exists (select from windlass_holds)",
        tests=_LIMITED,
    ),
    Mutant(
        name="mariadb: an end that keeps its part of a limit",
        file=_MARIADB,
        old="""where locate('"held"', @windlass_ending) > 0;""",
        new="where false;",
        tests=_LIMITED,
    ),
    Mutant(
        name="mariadb: a plain end that keeps its part of a limit",
        file="storage/mysql/finish.py",
        old='    if found["held"]:\n        texts.append(interpolate(release_holds, {}))\n',
        new="",
        tests=_LIMITED,
    ),
    Mutant(
        name="sqlite: an end that keeps its dedupe key",
        file=_SQLITE,
        old="k.kind = 'dedupe' and k.until <= {now}",
        new="false",
        tests=_KEYS,
    ),
    Mutant(
        name="postgresql: an end that keeps its dedupe key",
        file=_POSTGRES,
        old="k.kind = 'dedupe' and k.until <= {now}",
        new="false",
        tests=_KEYS,
    ),
    Mutant(
        name="mariadb: a plain end that keeps its dedupe key",
        file=_MARIADB_PLAIN,
        old="k.kind = 'dedupe' and k.until <= @windlass_now",
        new="false",
        tests=_KEYS,
    ),
    Mutant(
        name="sqlite: a child let in before its parent ended",
        file=_SQLITE,
        old="where {goes_to} <> 'queued' and ({goes_to} = 'completed' or p.policy <> 'wait')",
        new="where {goes_to} = 'completed' or p.policy <> 'wait'",
        tests=_POLICIES,
    ),
    Mutant(
        name="postgresql: a child let in before its parent ended",
        file=_POSTGRES,
        old="select id, f_state from ending\n    where f_state <> 'queued' and exists",
        new="select id, f_state from ending\n    where exists",
        tests=_POLICIES,
    ),
    Mutant(
        name="mariadb: a child let in before its parent ended",
        file=_MARIADB,
        old="p.settled = 0 and e.state <> 'queued' and (",
        new="p.settled = 0 and (",
        times=2,
        tests=_POLICIES,
    ),
    Mutant(
        name="sqlite: a child let in by the first of its parents",
        file=_SQLITE,
        old="k.waits <= s.parents and not k.held",
        new="not k.held",
        tests=_PARENTS,
    ),
    Mutant(
        name="postgresql: a child let in by the first of its parents",
        file=_POSTGRES,
        old="k.waits <= s.parents and not k.held",
        new="not k.held",
        tests=_PARENTS,
    ),
    Mutant(
        name="mariadb: a child let in by the first of its parents",
        file=_MARIADB,
        old="k.waits <= s.parents and k.held = 0",
        new="k.held = 0",
        tests=_PARENTS,
    ),
)

MUTANTS: Sequence[Mutant] = (*_TOKENS, *_WORKERS, *_REAPED, *_ATTEMPTS, *_BESIDE)
