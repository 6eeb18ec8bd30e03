"""search_logs: lines found by their words."""

import pytest

from tests.support.job_builders import (
    ACME,
    ALDER,
    HOUR,
    MINUTE,
    SECOND,
    START,
    a_tenant,
    finish,
    log_line,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import JobState
from windlass.ids import DefinitionKey


async def search(storage, words, scope=ALL_TENANTS, **which):
    return [line.message for line in await storage.jobs.search_logs(scope, words, **which)]


async def test_lines_are_found_by_all_their_words_newest_first(storage):
    lease = await started(storage)
    messages = ["upload of invoice failed", "invoice uploaded", "Failed: invoice 17", "nothing"]
    await storage.leases.append_logs(
        ALDER,
        [log_line(lease, message, at=START + n * SECOND) for n, message in enumerate(messages)],
    )

    assert await search(storage, "invoice failed") == [messages[2], messages[0]]
    assert await search(storage, "invoice") == [messages[2], messages[1], messages[0]]
    assert await search(storage, "invoice nobody") == []


async def test_words_match_as_whole_words_in_any_case(storage):
    lease = await started(storage)
    await storage.leases.append_logs(ALDER, [log_line(lease, "Connection REFUSED by host")])

    assert await search(storage, "refused connection") == ["Connection REFUSED by host"]
    assert await search(storage, "fused") == []


async def test_words_of_other_scripts_and_numbers_match(storage):
    lease = await started(storage)
    await storage.leases.append_logs(
        ALDER, [log_line(lease, "заказ 4711 отправлен"), log_line(lease, "größe straße")]
    )

    assert await search(storage, "отправлен 4711") == ["заказ 4711 отправлен"]
    assert await search(storage, "größe") == ["größe straße"]


async def test_short_and_common_words_match(storage):
    lease = await started(storage)
    await storage.leases.append_logs(
        ALDER, [log_line(lease, "to be or not to be"), log_line(lease, "id is 7")]
    )

    assert await search(storage, "not to be") == ["to be or not to be"]
    assert await search(storage, "is 7") == ["id is 7"]


async def test_punctuation_in_a_search_is_not_an_operator(storage):
    lease = await started(storage)
    await storage.leases.append_logs(
        ALDER, [log_line(lease, "mail sent"), log_line(lease, "other")]
    )

    for words in ("mail -sent", '+mail "sent', "mail* (sent)", "mail: sent!", "mail AND' sent"):
        found = await search(storage, words)
        assert found in ([], ["mail sent"])
    assert await search(storage, "mail, sent.") == ["mail sent"]
    assert await search(storage, "") == []
    assert await search(storage, "?!") == []


@pytest.mark.parametrize("words", ["word", None])
async def test_a_level_includes_more_severe_ones(storage, words):
    lease = await started(storage)
    levels = ["debug", "info", "warn", "error"]
    await storage.leases.append_logs(
        ALDER, [log_line(lease, f"word {level}", level=level) for level in levels]
    )

    for place, level in enumerate(levels):
        found = await search(storage, words, level=level)
        assert set(found) == {f"word {worse}" for worse in levels[place:]}


async def test_a_search_respects_scope_and_filters(storage):
    acme = await a_tenant(storage, "acme")
    mine = await started(storage, tenant=acme)
    other = await started(storage, definition=DefinitionKey("other"))
    await storage.leases.append_logs(
        ALDER, [log_line(mine, "word of acme"), log_line(mine, "word!", level="error")]
    )
    await storage.leases.append_logs(ALDER, [log_line(other, "word of another")])

    assert set(await search(storage, "word", Scope(ACME))) == {"word of acme", "word!"}
    assert await search(storage, "word", Scope.of("globex")) == []
    assert await search(storage, "word", definition="other") == ["word of another"]
    assert await search(storage, "word", level="error") == ["word!"]
    assert len(await search(storage, "word", limit=2)) == 2


async def test_a_hit_identifies_its_job(storage):
    lease = await started(storage)
    await storage.leases.append_logs(ALDER, [log_line(lease, "needle", fields={"at": "x"})])

    [line] = await storage.jobs.search_logs(ALL_TENANTS, "needle")

    assert (line.job_id, line.sequence, line.attempt) == (lease.job_id, 1, 1)
    assert line.fields == {"at": "x"}


async def test_a_search_can_be_limited_to_a_job_and_a_time_span(storage):
    first, second = await started(storage), await started(storage)
    await storage.leases.append_logs(
        ALDER, [log_line(first, f"word {n}", at=START + n * SECOND) for n in range(4)]
    )
    await storage.leases.append_logs(ALDER, [log_line(second, "word of another", at=START)])

    assert await search(storage, "word", job=second.job_id) == ["word of another"]
    assert await search(storage, "word", job=first.job_id, since=START + 2 * SECOND) == [
        "word 3",
        "word 2",
    ]
    assert await search(storage, "word", since=START + SECOND, until=START + 3 * SECOND) == [
        "word 2",
        "word 1",
    ]


async def test_the_newest_of_very_many_hits_are_found(storage):
    lease = await started(storage)
    await storage.leases.append_logs(
        ALDER, [log_line(lease, f"word {n}", at=START + n * SECOND) for n in range(30)]
    )

    found = await search(storage, "WORD", limit=3)

    assert found == ["word 29", "word 28", "word 27"]


async def test_paging_continues_after_a_line_also_among_equal_times(storage):
    first, second = await started(storage), await started(storage)
    for lease in (first, second):
        await storage.leases.append_logs(
            ALDER, [log_line(lease, f"word {n}", at=START) for n in range(4)]
        )
    await storage.leases.append_logs(ALDER, [log_line(first, "word", at=START + SECOND)])

    seen: list = []
    while page := await storage.jobs.search_logs(
        ALL_TENANTS, "word", limit=2, before=seen[-1].place if seen else None
    ):
        seen += page

    assert len(seen) == len({line.place for line in seen}) == 9
    assert seen == await storage.jobs.search_logs(ALL_TENANTS, "word", limit=100)
    assert [line.place for line in seen] == sorted((line.place for line in seen), reverse=True)


async def test_a_search_can_be_limited_to_the_jobs_of_a_creator(storage):
    for by in ("user:1", "user:2", None):
        running = await started(storage, created_by=by)
        ended = await started(storage, created_by=by)
        put_off = await started(storage, created_by=by)
        for lease in (running, ended, put_off):
            await storage.leases.append_logs(ALDER, [log_line(lease, f"word of {by}")])
        await storage.leases.finish(
            ALDER, [finish(ended), finish(put_off, JobState.QUEUED, delay=HOUR)]
        )

    assert await search(storage, "word", created_by="user:1") == ["word of user:1"] * 3
    assert await search(storage, "word", created_by="user:3") == []
    assert await search(storage, "word", created_by="None") == []


async def test_without_words_every_line_is_found_newest_first(storage):
    await a_tenant(storage, "acme")
    first, second = await started(storage), await started(storage, tenant=ACME)
    await storage.leases.append_logs(
        ALDER, [log_line(first, f"line {n}", at=START + n * SECOND) for n in range(3)]
    )
    await storage.leases.append_logs(
        ALDER, [log_line(second, "theirs", at=START + HOUR, level="error")]
    )

    newest = (await storage.jobs.search_logs(ALL_TENANTS, None, limit=2))[-1]

    assert await search(storage, None) == ["theirs", "line 2", "line 1", "line 0"]
    assert await search(storage, None, before=newest.place) == ["line 1", "line 0"]
    assert await search(storage, None, level="error") == ["theirs"]
    assert await search(storage, None, job=first.job_id, since=START + SECOND) == [
        "line 2",
        "line 1",
    ]
    assert await search(storage, None, Scope(ACME)) == ["theirs"]


@pytest.mark.parametrize("words", [None, "word"])
async def test_the_volume_counts_lines_by_slot_and_level(storage, words):
    await a_tenant(storage, "acme")
    one, other = await started(storage), await started(storage, tenant=ACME)
    lines = [
        log_line(one, "a word", at=START + MINUTE),
        log_line(one, "a word too", at=START + MINUTE),
        log_line(one, "a bad word", at=START + 2 * MINUTE, level="error"),
        log_line(one, "a late word", at=START + 9 * MINUTE),
        log_line(other, "word of acme", at=START + 2 * MINUTE),
    ]
    await storage.leases.append_logs(ALDER, lines)
    window = {"since": START, "until": START + 9 * MINUTE, "slot_seconds": 60}
    first = int(START.timestamp()) // 60

    async def volume(scope=ALL_TENANTS, **which):
        found = await storage.jobs.log_volume(scope, words, **window | which)
        return {(each.slot - first, each.level): each.lines for each in found}

    assert await volume() == {(1, "info"): 2, (2, "error"): 1, (2, "info"): 1}
    assert await volume(Scope(ACME)) == {(2, "info"): 1}
    assert await volume(level="warn", job=one.job_id) == {(2, "error"): 1}
    assert await volume(definition="other") == {}
    assert sum((await volume(most=2)).values()) == 2
