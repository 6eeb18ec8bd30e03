"""Runnable definitions: edits, and handlers by path that come and go."""

import asyncio
import threading
from dataclasses import replace

import pytest

from tests.worker.builders import a_handler
from windlass.core.definitions.definition import Definition
from windlass.ids import DefinitionKey
from windlass.telemetry import Telemetry
from windlass.worker.handlers import Handlers, RunnableDefinitions

PATH = Definition(key=DefinitionKey("by.path"), title="By path", kind="path", handler="app.run")


def run() -> None: ...


@pytest.fixture
def knows(engine, heard):
    def make(resolve):
        return RunnableDefinitions(Handlers(), engine.definitions, Telemetry(heard), resolve)

    return make


@pytest.fixture
def put(engine):
    """Store a definition as it is given, and have it seen."""

    async def store(row):
        await engine.storage.definitions.change_definitions([row.key], lambda found: [row])
        await engine.definitions.list()

    return store


async def test_a_handler_by_path_is_known_while_its_definition_is_there(engine, knows, put):
    knowledge = knows(lambda row: a_handler(run))
    await put(PATH)
    await knowledge.refresh()
    before = list(knowledge.known)

    await engine.definitions.delete(PATH.key)
    await engine.definitions.list()
    await knowledge.refresh()

    assert (before, knowledge.known) == (["by.path"], [])


async def test_a_job_claimed_just_before_its_path_was_lost_is_still_run(engine, knows, put):
    knowledge = knows(lambda row: a_handler(run))
    await put(PATH)
    await knowledge.refresh()

    await engine.definitions.delete(PATH.key)
    await engine.definitions.list()
    await knowledge.refresh()

    assert knowledge["by.path"].call is run


async def test_a_failed_import_is_logged_and_retried(knows, put):
    missing = [True]

    def resolve(row):
        if missing[0]:
            raise ImportError("no such thing")
        return a_handler(run)

    knowledge = knows(resolve)
    await put(PATH)
    await knowledge.refresh()
    told = dict(knowledge.import_errors)
    missing[0] = False
    await knowledge.refresh()

    assert told == {"by.path": "ImportError: no such thing"}
    assert (knowledge.import_errors, knowledge.known) == ({}, ["by.path"])


async def test_a_slow_import_does_not_block_the_event_loop(knows, put):
    begun, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def resolve(row):
        loop.call_soon_threadsafe(begun.set)
        assert go_on.wait(20)
        return a_handler(run)

    knowledge = knows(resolve)
    await put(PATH)
    refreshing = asyncio.create_task(knowledge.refresh())

    await begun.wait()  # by this loop, while the import goes on
    assert knowledge.known == []
    go_on.set()
    await refreshing
    assert knowledge.known == ["by.path"]


async def test_an_edit_of_a_definition_by_path_takes_effect(knows, put):
    knowledge = knows(lambda row: a_handler(run))
    await put(PATH)
    await knowledge.refresh()

    await put(replace(PATH, timeout_seconds=7.0))
    await knowledge.refresh()

    assert knowledge["by.path"].timeout.total_seconds() == 7
