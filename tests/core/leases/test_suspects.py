"""Suspects: the job to blame for a dead worker, and the verdict on a lost lease."""

from dataclasses import replace

import pytest

from windlass.core.leases.gates import (
    KEY,
    VERSION,
    cleared_gate,
    counted_by,
    definition_of,
    is_suspect,
    runs_alone,
    suspect_gate,
    version_of,
    with_suspects,
)
from windlass.core.leases.suspects import MOST_WORKER_DEATHS, LostAttempt, judge_loss

ALONE = LostAttempt(definition="mail", gate="", attempts=1, max_attempts=3, worker_deaths=0)
IN_COMPANY = replace(ALONE, neighbours=11)
SUSPECT = suspect_gate("", "mail")
GATES = ["", "mail", f"mail{VERSION}2", f"mail{KEY}acme", f"mail{VERSION}2{KEY}acme!"]


def test_a_job_that_ran_alone_loses_an_attempt_and_becomes_a_suspect():
    verdict = judge_loss(ALONE)

    assert (verdict.dead, verdict.attempt_counts, verdict.death_counts) == (False, True, True)
    assert verdict.gate == SUSPECT


def test_the_last_attempt_of_a_job_that_ran_alone_ends_it():
    assert judge_loss(replace(ALONE, max_attempts=1)).dead


@pytest.mark.parametrize("gate", ["", SUSPECT])
def test_the_last_attempt_of_one_of_several_jobs_is_given_back(gate):
    verdict = judge_loss(replace(IN_COMPANY, gate=gate, max_attempts=1, suspects=1))

    assert (verdict.dead, verdict.attempt_counts) == (False, False)
    assert verdict.gate == SUSPECT


@pytest.mark.parametrize("gate", ["", SUSPECT])
def test_among_several_suspects_only_the_first_death_counts(gate):
    loss = replace(IN_COMPANY, gate=gate, suspects=1)

    counted = [judge_loss(replace(loss, worker_deaths=n)).death_counts for n in range(3)]

    assert counted == [True, False, False]


def test_a_single_suspect_among_others_counts_a_death_and_must_run_alone():
    verdict = judge_loss(replace(IN_COMPANY, gate=SUSPECT, max_attempts=1, worker_deaths=1))

    assert (verdict.dead, verdict.attempt_counts, verdict.death_counts) == (False, False, True)
    assert runs_alone(verdict.gate)


def test_a_job_waiting_to_run_alone_is_not_blamed():
    gate = suspect_gate("", "mail", alone=True)

    verdict = judge_loss(replace(IN_COMPANY, gate=gate))

    assert (verdict.attempt_counts, verdict.death_counts) == (False, False)
    assert verdict.gate == gate


def test_a_job_is_dead_lettered_after_three_worker_deaths():
    loss = replace(ALONE, gate=SUSPECT, max_attempts=100)
    deaths = 0
    while not judge_loss(replace(loss, worker_deaths=deaths)).dead:
        deaths += 1

    assert deaths + 1 == MOST_WORKER_DEATHS


def test_a_job_that_ran_with_others_is_never_dead_lettered():
    for deaths in range(10):
        verdict = judge_loss(replace(IN_COMPANY, gate=SUSPECT, worker_deaths=deaths))

        assert not verdict.dead
        assert deaths + verdict.death_counts <= max(deaths, MOST_WORKER_DEATHS - 1)


def test_a_worker_that_loses_a_job_again_had_not_died():
    again = replace(ALONE, attempts=3, worker_deaths=1, lost_before=1)

    verdict = judge_loss(again)

    assert (verdict.dead, verdict.attempt_counts, verdict.death_counts) == (False, False, False)


def test_a_worker_is_excused_only_for_a_time():
    assert judge_loss(replace(ALONE, attempts=3, lost_before=100)).dead


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("alone", [False, True])
def test_the_gate_of_a_suspect_keeps_the_parts_of_its_gate(gate, alone):
    marked = suspect_gate(gate, "mail", alone=alone)

    assert is_suspect(marked)
    assert runs_alone(marked) == alone
    assert definition_of(marked) == "mail"
    assert version_of(marked) == version_of(gate)
    assert counted_by(marked) == counted_by(gate)
    assert cleared_gate(marked) == (gate or "mail")
    assert suspect_gate(marked, "mail", alone=alone) == marked


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("alone", [False, True])
def test_a_worker_that_runs_suspects_passes_their_gates(gate, alone):
    marked = suspect_gate(gate, "mail", alone=alone)

    needed = marked.partition(KEY)[0]
    assert needed in with_suspects(["mail", f"mail{VERSION}2"])
    assert needed not in ["mail", f"mail{VERSION}2"]


def test_a_definition_with_a_name_too_long_has_no_suspects():
    longest = "x" * 191

    verdict = judge_loss(replace(IN_COMPANY, definition=longest))

    assert suspect_gate("", longest) is None
    assert (verdict.gate, verdict.attempt_counts) == (None, True)
