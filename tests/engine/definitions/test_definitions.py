"""Definitions as one process sees them: what it has changed itself, it sees at once."""

import asyncio
from dataclasses import replace

from windlass.core.definitions.definition import Definition
from windlass.ids import DefinitionKey

MAIL = Definition(key=DefinitionKey("mail.send"), title="Mail", code_hash="1")


async def test_an_edit_is_returned_while_older_rows_are_read(engine, monkeypatch):
    definitions, storage = engine.definitions, engine.storage
    definitions.declare(MAIL)
    await definitions.sync()
    read, changed = storage.definitions.definitions, storage.definitions.recently_changed_gates
    asked, edited = asyncio.Event(), asyncio.Event()

    async def read_slowly():
        rows = await read()
        asked.set()
        await edited.wait()
        return rows

    async def meanwhile():
        edited.set()
        await reading
        return await changed()

    monkeypatch.setattr(storage.definitions, "definitions", read_slowly)
    reading = asyncio.create_task(definitions.list())
    await asked.wait()
    monkeypatch.setattr(storage.definitions, "definitions", read)
    monkeypatch.setattr(storage.definitions, "recently_changed_gates", meanwhile)

    answer = await definitions.disable(MAIL.key)

    assert not answer.enabled


async def test_a_new_declaration_keeps_the_edits(engine):
    definitions = engine.definitions
    definitions.declare(MAIL)
    await definitions.sync()
    await definitions.edit(MAIL.key, max_attempts=9)
    anew = replace(MAIL, title="Post")

    assert definitions.effective(MAIL).max_attempts == 9
    assert definitions.effective(MAIL) is definitions.effective(MAIL)
    assert (definitions.effective(anew).title, definitions.effective(anew).max_attempts) == (
        "Post",
        9,
    )
