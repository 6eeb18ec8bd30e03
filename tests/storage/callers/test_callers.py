"""A job enqueued in an application's own transaction exists only if that transaction commits."""

import json

import pytest

from tests.support.caller_transactions import CALLERS
from tests.support.job_builders import claim, finish, new_job
from windlass.core.jobs.states import JobState
from windlass.ids import DefinitionKey
from windlass.storage.callers import caller_session, drive
from windlass.storage.jobs.jobs import EnqueueResult
from windlass.storage.leases.leases import finish_batch

for_every_caller = pytest.mark.parametrize(
    ("database", "kind"),
    [pytest.param(database, kind) for database, kinds in CALLERS.items() for kind in kinds],
    indirect=["database"],
)

#: Texts that each driver might interpret.
AWKWARD = '{"text": "100% sure? %s %(name)s :name $1 ?1 {now} \\"é\\" \\\\ \U0001f389"}'


@for_every_caller
def test_a_job_can_be_claimed_once_its_transaction_commits(windlass, caller):
    job = new_job()

    [stored] = windlass.enqueue(caller, job)
    caller.commit()

    assert stored == EnqueueResult(job.id, "created", None)
    assert windlass.claimed() == [job.id]
    session = caller_session(caller.tx, windlass.storage.database)
    assert session.blocking == (caller.run is drive)


@for_every_caller
def test_a_job_is_unseen_before_the_commit_and_a_rollback_leaves_nothing(windlass, caller):
    job = new_job(dedupe_key="once")

    windlass.enqueue(caller, job)
    before = windlass.job(job.id)
    caller.rollback()

    assert before is None
    assert windlass.job(job.id) is None
    [stored] = windlass.enqueue_alone(new_job(dedupe_key="once"))
    assert stored.status == "created"


@for_every_caller
def test_a_duplicate_meets_a_job_of_its_own_transaction_or_an_older_one(windlass, caller):
    older, first = new_job(idempotency_key="old"), new_job(dedupe_key="new")
    second, third = new_job(dedupe_key="new"), new_job(idempotency_key="old")
    windlass.enqueue_alone(older)
    windlass.enqueue(caller, first)

    stored = windlass.enqueue(caller, second, third)
    caller.commit()

    assert stored == [
        EnqueueResult(second.id, "existing", first.id),
        EnqueueResult(third.id, "existing", older.id),
    ]
    assert windlass.job(second.id) is None


@for_every_caller
def test_a_job_stopped_by_one_key_gives_back_the_other(windlass, caller):
    windlass.enqueue_alone(new_job(dedupe_key="taken"))

    [stopped] = windlass.enqueue(caller, new_job(dedupe_key="taken", idempotency_key="free"))
    [stored] = windlass.enqueue(caller, new_job(idempotency_key="free"))
    caller.commit()

    assert stopped.status == "existing"
    assert stored.status == "created"


@for_every_caller
def test_a_refused_job_leaves_the_transaction_usable(windlass, caller):
    refused, job = new_job(definition=DefinitionKey("nobody.knows")), new_job()

    [first] = windlass.enqueue(caller, refused)
    [second] = windlass.enqueue(caller, job)
    caller.commit()

    assert (first.status, second.status) == ("unknown_definition", "created")
    assert windlass.claimed() == [job.id]


@for_every_caller
def test_many_jobs_are_stored_as_they_were_given(windlass, caller):
    parent = new_job(payload=AWKWARD, correlation_id="100%")
    children = [new_job(after=(parent.id,)) for _ in range(300)]

    stored = [*windlass.enqueue(caller, parent), *windlass.enqueue(caller, *children)]
    caller.commit()

    assert {s.status for s in stored} == {"created"}
    kept = windlass.job(parent.id)
    assert (kept.payload, kept.correlation_id) == (json.loads(AWKWARD), "100%")
    assert windlass.job(children[-1].id).waits == 1


@for_every_caller
def test_an_attempt_can_end_in_the_transaction_of_its_own_work(windlass, caller):
    [stored] = windlass.enqueue_alone(new_job())
    [lease] = windlass.runner.run(claim(windlass.storage))
    session = caller_session(caller.tx, windlass.storage.database)

    ended = caller.run(session.run("finish", **finish_batch(lease.worker, [finish(lease)])))
    before = windlass.job(stored.id)
    caller.commit()

    assert len(ended) == 1
    assert before.state is JobState.RUNNING
    assert windlass.job(stored.id).state is JobState.COMPLETED
