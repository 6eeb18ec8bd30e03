"""The promises hold when processes die, fail or are suspended between two commits.

`WINDLASS_TEST_SCHEDULES` plays so many schedules instead of the usual ones, and
`WINDLASS_TEST_SEED` begins at another seed.
"""

import os

import pytest

from tests.simulation.databases import MemoryWorlds, server_world
from tests.simulation.faults import FAULTS
from tests.simulation.simulation import Simulation

#: Divided, so that several test processes share them.
_PARTS = 8
_SCHEDULES = int(os.environ.get("WINDLASS_TEST_SCHEDULES", "96"))
_FIRST = int(os.environ.get("WINDLASS_TEST_SEED", "0"))
#: Seeds that failed once. They stay.
_FAILED_ONCE: tuple[int, ...] = ()


@pytest.fixture
async def memory():
    worlds = MemoryWorlds()
    yield worlds
    await worlds.close()


async def play(world, seed) -> Simulation:
    """Play one schedule; its seed is printed, for the report of a failure."""
    print(f"seed {seed}")
    simulation = Simulation(world, seed)
    await simulation.run()
    return simulation


@pytest.mark.timeout(60 + _SCHEDULES)
@pytest.mark.parametrize("part", range(_PARTS))
async def test_the_promises_hold_when_processes_die_between_two_commits(memory, part):
    seeds = [*_FAILED_ONCE, *range(_FIRST, _FIRST + _SCHEDULES)]
    for seed in seeds[part::_PARTS]:
        async with memory.new() as world:
            await play(world, seed)


@pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
@pytest.mark.parametrize("seed", range(2))
async def test_the_promises_hold_on_a_server(database, seed):
    async with server_world(database.url) as world:
        await play(world, seed)


async def test_a_seed_reproduces_its_simulation(memory):
    traces = []
    for _ in range(2):
        async with memory.new() as world:
            traces.append((await play(world, 5)).trace)

    assert traces[0] == traces[1]


async def test_schedules_cover_every_fault_and_every_verb(memory):
    faults, verbs = set(), set()
    for seed in range(20):
        async with memory.new() as world:
            simulation = await play(world, seed)
        faults.update(simulation.faults)
        verbs.update(simulation.ledger.counts)

    assert faults == set(FAULTS)
    assert verbs >= {
        "enqueue", "claim", "renew", "record_progress", "append_logs", "finish", "promote", "admit", "cancel",
        "retry", "run_now", "advance_trigger", "claim_event", "emit_dead_letter_events", "roll_up_counts", "finish_operation_items",
    }  # fmt: skip
