"""Failure triage as an application uses it, on each database."""

import pytest

from tests.support.wait import until
from windlass import JobFailed, Permanent, Windlass, sync
from windlass.errors import DeadGroupNotFound, DefinitionInvalid, OptionInvalid, PayloadInvalid
from windlass.testing import TestWindlass


@pytest.fixture
def sent_mails() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def charge(wl, sent_mails):
    @wl.job("admin.notify")
    def notify(job_id: str, error: str) -> None:
        sent_mails.append((job_id, error))

    @wl.job(on_dead_letter=notify)
    async def charge(customer: int) -> int:
        if customer < 0:
            raise Permanent(f"no customer {customer}")
        return customer

    return charge


async def test_failures_are_grouped_edited_and_retried(wl, charge, sent_mails):
    bad = [await charge.enqueue(customer=-n) for n in (1, 2)]

    async with wl.running():
        await until(lambda: len(sent_mails) == 2, waiting_for="both to be told")
        [group] = await wl.dead.groups()
        with pytest.raises(PayloadInvalid):
            await wl.dead.edit_retry(bad[0].job_id, {"customer": "x"})
        await wl.dead.edit_retry(bad[0].job_id, {"customer": 1}, actor="ada")
        await bad[0].wait("30s")
        fixed = await wl.jobs.get(bad[0].job_id)

    assert (group.definition, group.count) == ("charge", 2)
    assert group.sentence.startswith("windlass.errors")
    assert "no customer <number> in charge (test_dead.py)" in group.sentence
    assert (fixed.result, fixed.payload) == (1, {"customer": 1})
    assert sorted(sent_mails) == sorted(
        (str(receipt.job_id), f"Permanent: no customer -{n}")
        for n, receipt in enumerate(bad, start=1)
    )
    [left] = (await wl.dead.list(definition="charge", fingerprint=group.fingerprint)).jobs
    assert left.id == bad[1].job_id


async def test_a_group_is_retried_and_discarded_by_the_blocking_api(database):
    wl = sync.Windlass(database.url)
    broken = [True]

    @wl.job(max_attempts=1)
    def sometimes() -> None:
        if broken:
            raise OSError("down")

    with wl:
        receipts = [sometimes.enqueue() for _ in range(3)]
        with wl.running():
            for receipt in receipts:
                with pytest.raises(JobFailed):
                    wl.jobs.wait(receipt.job_id, "30s")
            [group] = wl.dead.groups()
            broken.clear()
            change = wl.dead.retry_group(group.definition, group.fingerprint, limit=2)
            for receipt in receipts[1:]:
                wl.jobs.wait(receipt.job_id, "30s")
        gone = wl.dead.discard_group(group.definition, group.fingerprint)

        assert (change.changed, change.skipped, change.more) == (2, 0, True)
        assert (gone.changed, len(wl.dead.groups())) == (1, 0)


async def test_a_failure_hook_runs_in_a_test(charge, wl, sent_mails):
    async with TestWindlass(wl) as test:
        await charge.enqueue(customer=-3)

        await test.run_all()

        await test.assert_enqueued("admin.notify", error="Permanent: no customer -3")
    assert len(sent_mails) == 1


def test_a_failure_hook_is_given_by_key_or_job():
    wl = Windlass("sqlite:///:memory:")
    hook = wl.job("hook")(lambda: None)

    by_key = wl.job("a", on_dead_letter="hook")(lambda: None)
    by_job = wl.job("b", on_dead_letter=hook)(lambda: None)

    assert by_key.handler.definition.on_dead_letter == "hook"
    assert by_job.handler.definition.on_dead_letter == "hook"
    for wrong in (3, lambda: None, ""):
        with pytest.raises((DefinitionInvalid, OptionInvalid), match="n_dead_letter"):
            wl.job("c", on_dead_letter=wrong)(lambda: None)


async def test_a_group_is_muted_for_a_time_and_unmuted(wl, charge, sent_mails):
    await charge.enqueue(customer=-1)
    async with wl.running():
        await until(lambda: len(sent_mails) == 1, waiting_for="it to be told")
    [group] = await wl.dead.groups()

    muted = await wl.dead.mute("charge", group.fingerprint, lasts="7d", reason="known", actor="ada")
    hidden = await wl.dead.groups()
    [shown] = await wl.dead.groups(muted=True)
    unmuted = await wl.dead.unmute("charge", group.fingerprint)

    assert (muted.muted_by, muted.reason, muted.tenant) == ("ada", "known", None)
    assert (hidden, shown.muted_until) == ([], muted.muted_until)
    assert (unmuted.muted_at, await wl.dead.groups()) == (None, [group])
    with pytest.raises(DeadGroupNotFound):
        await wl.dead.mute("charge", "0" * 16)
    with pytest.raises(OptionInvalid, match="longer than nothing"):
        await wl.dead.mute("charge", group.fingerprint, lasts=0)
