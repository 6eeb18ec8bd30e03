"""Bugs in the loops: reaping, scheduling, events, upkeep and the worker's own."""

from collections.abc import Sequence

from tests.mutants.mutant import Mutant

_SIMULATION = "tests/simulation/test_simulation.py"
_SIMULATED = (f"{_SIMULATION}::test_the_promises_hold_when_processes_die_between_two_commits",)
_SCHEDULER = "tests/upkeep/test_scheduler.py"
_EVENTS = "tests/conformance/triggers/test_events.py"
_TRIGGERS = "tests/conformance/triggers/test_triggers.py"
_ONE_FIRES = (
    f"{_TRIGGERS}::test_concurrent_firings_of_a_due_time_succeed_once",
    f"{_TRIGGERS}::test_a_due_time_is_fired_once",
)
_ONE_MATCHES = (f"{_EVENTS}::test_concurrent_matches_of_an_event_succeed_once",)
_NOT_DUE = ("tests/conformance/leases/claim/test_promote.py::test_only_due_jobs_are_promoted",)
_ONE_PROMOTES = (
    "tests/conformance/leases/claim/test_promote.py::test_concurrent_promotes_promote_each_job_once",
    "tests/conformance/races/test_upkeep.py::test_promote_against_promote",
)

_REAPING: Sequence[Mutant] = (
    Mutant(
        name="reap on first look",
        file="engine/leases/reaper.py",
        old="now - self._first_seen[key] >= self._second_look",
        new="True",
        tests=("tests/engine/leases/test_reaper.py::test_the_first_look_takes_nothing_back",),
    ),
    Mutant(
        name="reap on first look, seen by the simulation",
        file="engine/leases/reaper.py",
        old="now - self._first_seen[key] >= self._second_look",
        new="True",
        tests=_SIMULATED,
    ),
    Mutant(
        name="looks before an outage count",
        file="engine/leases/reaper.py",
        old="                self._first_seen = {}\n",
        new="",
        tests=("tests/engine/leases/test_reaper.py",),
    ),
    Mutant(
        name="reap though nobody could write",
        file="engine/leases/reaper.py",
        old="            await self._check_writable()\n",
        new="            pass\n",
        tests=("tests/engine/leases/test_reaper.py::test_a_read_only_database_restarts_the_looks",),
    ),
    Mutant(
        name="neighbours of a dead worker's job are to blame",
        file="core/leases/suspects.py",
        old="    if loss.neighbours and gate is not None:\n"
        "        return _judge_shared_loss(loss, gate)\n",
        new="",
        tests=("tests/core/leases/test_suspects.py",),
    ),
    Mutant(
        name="a job may kill any number of workers",
        file="core/leases/suspects.py",
        old="loss.attempts >= loss.max_attempts or loss.worker_deaths + 1 >= MOST_WORKER_DEATHS",
        new="loss.attempts >= loss.max_attempts",
        tests=("tests/core/leases/test_suspects.py",),
    ),
    Mutant(
        name="several suspects on one worker",
        file="storage/leases/leases.py",
        old="            free = False\n",
        new="",
        tests=("tests/conformance/leases/claim/test_suspects.py",),
    ),
)

_SCHEDULING: Sequence[Mutant] = (
    Mutant(
        name="schedule advanced apart from its job",
        file="storage/triggers/triggers.py",
        old="            stored = await store(session, jobs) if jobs else []\n"
        "            for each in stored:\n",
        new="            pass\n"
        "        async with self._db.transaction() as session:\n"
        "            stored = await store(session, jobs) if jobs else []\n"
        "            for each in stored:\n",
        tests=_SIMULATED,
    ),
    Mutant(
        name="schedule advanced apart from a job that is refused",
        file="storage/triggers/triggers.py",
        old="            stored = await store(session, jobs) if jobs else []\n"
        "            for each in stored:\n",
        new="            pass\n"
        "        async with self._db.transaction() as session:\n"
        "            stored = await store(session, jobs) if jobs else []\n"
        "            for each in stored:\n",
        tests=(f"{_TRIGGERS}::test_a_refused_job_leaves_the_trigger_unchanged",),
    ),
    Mutant(
        name="sqlite: due time of a trigger not unique",
        file="storage/sql/triggers/advance_trigger.sql",
        old=" and next_run_at = {time :due_at}",
        new="",
        tests=_ONE_FIRES,
    ),
    Mutant(
        name="postgresql: due time of a trigger not unique",
        file="storage/sql/triggers/advance_trigger.sql",
        database="postgresql",
        old=" and next_run_at = {time :due_at}",
        new="",
        tests=_ONE_FIRES,
    ),
    Mutant(
        name="mariadb: due time of a trigger not unique",
        file="storage/sql/triggers/advance_trigger.sql",
        database="mariadb",
        old=" and next_run_at = {time :due_at}",
        new="",
        tests=_ONE_FIRES,
    ),
    Mutant(
        name="sqlite: a disabled trigger fires",
        file="storage/sql/triggers/advance_trigger.sql",
        old=" and {true enabled}",
        new="",
        tests=(f"{_TRIGGERS}::test_a_trigger_disabled_meanwhile_creates_no_job",),
    ),
    Mutant(
        name="an outage taken for a refusal by the scheduler",
        file="engine/triggers/firing.py",
        old="        except REFUSALS as error:\n",
        new="        except (*REFUSALS, DatabaseOutage) as error:\n",
        tests=(f"{_SCHEDULER}::test_an_outage_while_a_job_is_created_loses_no_due_time",),
    ),
    Mutant(
        name="an outage taken for a refusal, seen by the simulation",
        file="engine/triggers/firing.py",
        old="        except REFUSALS as error:\n",
        new="        except (*REFUSALS, DatabaseOutage) as error:\n",
        tests=_SIMULATED,
    ),
    Mutant(
        name="one broken trigger stops the others",
        file="engine/triggers/firing.py",
        old="        except Exception as error:  # noqa: BLE001  one trigger's failure must not stop the others\n",
        new="        except ZeroDivisionError as error:\n",
        tests=("tests/upkeep/test_scheduler.py",),
    ),
    Mutant(
        name="missed due times forgotten",
        file="core/triggers/schedule.py",
        old='most = MOST_MISSED if misfire == "all" else 1',
        new="most = 1",
        tests=_SIMULATED,
    ),
)

_MATCHING: Sequence[Mutant] = (
    Mutant(
        name="sqlite: event matched twice",
        file="storage/sql/triggers/events/claim_event.sql",
        old=" and matched_at is null",
        new="",
        tests=_ONE_MATCHES,
    ),
    Mutant(
        name="postgresql: event matched twice",
        file="storage/sql/triggers/events/claim_event.sql",
        database="postgresql",
        old=" and matched_at is null",
        new="",
        tests=_ONE_MATCHES,
    ),
    Mutant(
        name="mariadb: event matched twice",
        file="storage/sql/triggers/events/claim_event.sql",
        database="mariadb",
        old=" and matched_at is null",
        new="",
        tests=_ONE_MATCHES,
    ),
    Mutant(
        name="an outage taken for a refusal by an event",
        file="engine/triggers/events.py",
        old="            except (*REFUSALS, *_BROKEN) as error:\n",
        new="            except (*REFUSALS, *_BROKEN, DatabaseOutage) as error:\n",
        tests=(
            "tests/engine/triggers/test_events.py::test_an_outage_while_jobs_are_created_is_not_a_refusal",
        ),
    ),
    Mutant(
        name="events that nobody matched stay so",
        file="engine/leases/maintenance.py",
        old="        return await self._events.match_waiting()\n",
        new="        return 0\n",
        tests=_SIMULATED,
    ),
)

_HOUSEKEEPING: Sequence[Mutant] = (
    Mutant(
        name="sqlite: promote before the due time",
        file="storage/sqlite/sql/jobs/enqueue/promote.sql",
        old=" and due_at <= {now}",
        new="",
        tests=_NOT_DUE,
    ),
    Mutant(
        name="postgresql: promote before the due time",
        file="storage/postgres/sql/jobs/enqueue/promote.sql",
        old=" and due_at <= {now}",
        new="",
        tests=_NOT_DUE,
    ),
    Mutant(
        name="mariadb: promote before the due time",
        file="storage/mysql/sql/jobs/enqueue/promote.sql",
        old=" and due_at <= {now}",
        new="",
        tests=_NOT_DUE,
    ),
    Mutant(
        name="mariadb: promote without a lock",
        file="storage/mysql/sql/jobs/enqueue/promote.sql",
        old=" for update skip locked",
        new="",
        tests=_ONE_PROMOTES,
    ),
    Mutant(
        name="children of ended parents not let in",
        file="engine/leases/maintenance.py",
        old="        return len(await self._storage.leases.admit(unchecked)) if unchecked else 0\n",
        new="        return 0\n",
        tests=("tests/upkeep/test_upkeep.py",),
    ),
    Mutant(
        name="sqlite: prune a job that others wait for",
        file="storage/sqlite/sql/monitoring/retention/prune.sql",
        old="p.parent_id = e.id and not p.settled",
        new="false",
        tests=(
            "tests/conformance/jobs/enqueue/test_parents.py"
            "::test_a_parent_is_not_pruned_while_a_child_waits_for_it",
        ),
    ),
    Mutant(
        name="postgresql: prune a job that others wait for",
        file="storage/postgres/sql/monitoring/retention/prune.sql",
        old="p.parent_id = windlass_ended.id and not p.settled",
        new="false",
        tests=(
            "tests/conformance/jobs/enqueue/test_parents.py"
            "::test_a_parent_is_not_pruned_while_a_child_waits_for_it",
        ),
    ),
    Mutant(
        name="sqlite: changes folded twice",
        file="storage/sqlite/sql/monitoring/counts/roll_up_counts.sql",
        old="delete from windlass_deltas where id in (select id from {folded} f)",
        new="delete from windlass_deltas where id in (select id from {folded} f) and queued <> 0",
        tests=("tests/conformance/monitoring/test_counts.py",),
    ),
)

_WORKING: Sequence[Mutant] = (
    Mutant(
        name="an outage taken for content by a finish",
        file="engine/leases/leases.py",
        old="            ended = await self._storage.leases.finish(self._worker, cleaned)\n"
        "        except WindlassError:\n            raise\n",
        new="            ended = await self._storage.leases.finish(self._worker, cleaned)\n"
        "        except WindlassError:\n            ended = {}\n",
        tests=("tests/engine/leases/test_leases.py::test_an_outage_is_not_taken_for_bad_content",),
    ),
    Mutant(
        name="an end forgotten in an outage",
        file="engine/leases/leases.py",
        old="            ended = await self._storage.leases.finish(self._worker, cleaned)\n"
        "        except WindlassError:\n            raise\n",
        new="            ended = await self._storage.leases.finish(self._worker, cleaned)\n"
        "        except WindlassError:\n            ended = {}\n",
        tests=(
            "tests/worker/reporting/test_outcome_writer.py::test_an_outcome_is_written_when_the_database_is_back",
        ),
    ),
    Mutant(
        name="a batch of ends refused for one",
        file="engine/leases/leases.py",
        old="            ended = await self._one_by_one(cleaned)\n",
        new="            ended = {}\n",
        tests=(
            "tests/engine/leases/test_leases.py"
            "::test_a_refused_outcome_is_stored_with_a_fixed_text",
        ),
    ),
    Mutant(
        name="what a lost answer claimed is not handed back",
        file="engine/leases/leases.py",
        old="        released = await self.finish([outcome.released(lease) for lease in sorted(unknown)])\n",
        new="        released = dict.fromkeys(unknown)\n",
        tests=("tests/worker/leases/test_lost_claims.py",),
    ),
    Mutant(
        name="a permanent failure tried again",
        file="core/jobs/outcome.py",
        old="if failure.permanent or attempts >= max_attempts:",
        new="if attempts >= max_attempts:",
        tests=("tests/worker/test_attempt.py::test_a_permanent_error_is_not_retried",),
    ),
    Mutant(
        name="one attempt too many",
        file="core/jobs/outcome.py",
        old="attempts >= max_attempts:",
        new="attempts > max_attempts:",
        tests=_SIMULATED,
    ),
    Mutant(
        name="a busy loop in LogWriter",
        file="engine/loop.py",
        old="    await asyncio.sleep(0)\n    with contextlib",
        new="    with contextlib",
        tests=("tests/worker/reporting/test_log_writer.py", "tests/engine/test_loop.py"),
    ),
    Mutant(
        name="LogWriter is woken for ever by a full buffer",
        file="worker/reporting/log_writer.py",
        old="            self._full.clear()\n            self._full_signaled = False\n",
        new="            self._full_signaled = False\n",
        tests=("tests/worker/reporting/test_log_writer.py",),
    ),
    Mutant(
        name="an end before its lines",
        file="worker/reporting/outcome_writer.py",
        old="if self._holds_lines_of(batch):",
        new="if False:",
        tests=("tests/worker/reporting/test_outcome_writer.py",),
    ),
    Mutant(
        name="a lost lease goes unnoticed by its run",
        file="worker/leases/lease_renewer.py",
        old='            self._stop(run, "lost")\n',
        new="            pass\n",
        tests=("tests/worker/leases/test_lease_renewer.py",),
    ),
)

MUTANTS: Sequence[Mutant] = (
    *_REAPING,
    *_SCHEDULING,
    *_MATCHING,
    *_HOUSEKEEPING,
    *_WORKING,
)
