"""`/definitions`: what may run, and operators' edits of it."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from windlass.api.access.callers import Caller, CurrentCaller, ReadyEngine
from windlass.api.routing import Path, Query, Response, Routes, listed, paged
from windlass.api.schema import render
from windlass.api.schema.paging import PageQuery
from windlass.core.definitions.definition import DefinitionKind
from windlass.engine.definitions.definitions import Visible
from windlass.engine.engine import Engine

if TYPE_CHECKING:
    from windlass.api.schema.requests import DefinitionEdit, NewDefinition

routes = Routes("definitions")

Key = Annotated[str, Path(min_length=1, max_length=191)]


@routes.get("", "definitions.read", paged("DefinitionEntry"), summary="List definitions")
async def find(
    caller: CurrentCaller,
    engine: ReadyEngine,
    paging: PageQuery,
    queue: Annotated[str | None, Query(max_length=191, description="Of this queue.")] = None,
    kind: Annotated[
        DefinitionKind | None, Query(description="Whose handler is one of these.")
    ] = None,
    enabled: Annotated[bool | None, Query(description="That are enabled, or disabled.")] = None,
    missing: Annotated[
        bool | None, Query(description="That code no longer declares, or that it does.")
    ] = None,
    edited: Annotated[
        bool | None, Query(description="That an operator has edited, or that follow the code.")
    ] = None,
    tag: Annotated[str | None, Query(max_length=191, description="With this tag.")] = None,
    search: Annotated[
        str | None,
        Query(max_length=191, description="Text in key, title, description, handler or a tag."),
    ] = None,
    system: Annotated[bool, Query(description="Also those of Windlass itself.")] = False,
) -> dict[str, Any]:
    """Whoever sees only their own jobs is shown what they may enqueue; system ones are shown to those
    whose credential reaches all tenants."""
    found = await engine.definitions.list(
        queue=queue,
        kind=kind,
        enabled=enabled,
        missing=missing,
        edited=edited,
        tag=tag,
        search=search,
        system=system,
        visible=_visible(caller, engine),
    )
    page = paging.cut(found, lambda definition: definition.key)
    return {**page, "items": await render.definitions(engine, page["items"], caller.scope)}


@routes.post("", "definitions.write", "Definition", status_code=201, summary="Create one")
async def create(engine: ReadyEngine, body: "NewDefinition", response: Response) -> dict[str, Any]:
    """201 if it is new. With `if_exists` the call can be repeated: `keep` answers the one there is,
    `update` changes what is said of it, both with 200. One that code declares is never updated."""
    made, is_new = await engine.definitions.put(body.key, **body.changes())
    response.status_code = 201 if is_new else 200
    return await render.definition(engine, made)


@routes.post(
    "/reset",
    "definitions.write",
    listed("DefinitionEntry"),
    summary="Return all to the code",
)
async def reset_all(
    engine: ReadyEngine,
    names: Annotated[list[str] | None, Query(description="Only these options.")] = None,
) -> dict[str, Any]:
    """Of every definition, what operators edited; answers those that were changed."""
    found = await engine.definitions.reset_all(*(names or ()))
    return {"items": await render.definitions(engine, found)}


@routes.get("/{key}", "definitions.read", "Definition", summary="One definition")
async def get(caller: CurrentCaller, engine: ReadyEngine, key: Key) -> dict[str, Any]:
    """With what its jobs do: how many run, when they ran and run next, success rate and 95th
    percentile of the last 24 hours, which workers can run them and why others cannot. One that the
    caller may not see is answered like one that does not exist."""
    found = await engine.definitions.get(key, visible=_visible(caller, engine))
    return await render.definition(engine, found, caller.scope)


@routes.patch("/{key}", "definitions.write", "Definition", summary="Edit it")
async def edit(engine: ReadyEngine, key: Key, body: "DefinitionEdit") -> dict[str, Any]:
    """Wins over the code until it is reset; what is left out stays."""
    return await render.definition(engine, await engine.definitions.edit(key, **body.changes()))


@routes.post("/{key}/reset", "definitions.write", "Definition", summary="Return it to the code")
async def reset(
    engine: ReadyEngine,
    key: Key,
    names: Annotated[list[str] | None, Query(description="Only these options.")] = None,
) -> dict[str, Any]:
    return await render.definition(engine, await engine.definitions.reset(key, *(names or ())))


@routes.post("/{key}/enable", "definitions.write", "Definition", summary="Enable it")
async def enable(engine: ReadyEngine, key: Key) -> dict[str, Any]:
    return await render.definition(engine, await engine.definitions.enable(key))


@routes.post("/{key}/disable", "definitions.write", "Definition", summary="Disable it")
async def disable(engine: ReadyEngine, key: Key) -> dict[str, Any]:
    return await render.definition(engine, await engine.definitions.disable(key))


@routes.delete("/{key}", "definitions.write", status_code=204, summary="Delete it")
async def delete(engine: ReadyEngine, key: Key) -> None:
    await engine.definitions.delete(key)


def _visible(caller: Caller, engine: Engine) -> Visible:
    return partial(caller.sees, table=engine.access.table)
