"""`/definitions`: definitions, and operators' edits of them."""

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
    queue: Annotated[str | None, Query(max_length=191, description="Only this queue's.")] = None,
    kind: Annotated[
        DefinitionKind | None, Query(description="Only with a handler of these kinds.")
    ] = None,
    enabled: Annotated[
        bool | None, Query(description="Only enabled ones, or disabled ones.")
    ] = None,
    missing: Annotated[
        bool | None, Query(description="Only those that code no longer declares, or still does.")
    ] = None,
    edited: Annotated[
        bool | None,
        Query(description="Only those edited by an operator, or those equal to the code."),
    ] = None,
    tag: Annotated[str | None, Query(max_length=191, description="Only with this tag.")] = None,
    search: Annotated[
        str | None,
        Query(max_length=191, description="Text in key, title, description, handler or a tag."),
    ] = None,
    system: Annotated[bool, Query(description="Include Windlass's own.")] = False,
) -> dict[str, Any]:
    """Callers limited to their own jobs see what they may enqueue. System definitions need a
    credential for all tenants."""
    definitions = await engine.definitions.list(
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
    page = paging.cut(definitions, lambda definition: definition.key)
    return {**page, "items": await render.definitions(engine, page["items"], caller.scope)}


@routes.post("", "definitions.write", "Definition", status_code=201, summary="Create a definition")
async def create(engine: ReadyEngine, body: "NewDefinition", response: Response) -> dict[str, Any]:
    """201 if it is new. With `if_exists` the call can be repeated: `keep` returns the existing
    definition, `update` changes the given fields, both with 200. Definitions declared in code are
    never updated."""
    made, is_new = await engine.definitions.put(body.key, **body.changes())
    response.status_code = 201 if is_new else 200
    return await render.definition(engine, made)


@routes.post(
    "/reset",
    "definitions.write",
    listed("DefinitionEntry"),
    summary="Reset all definitions to the code",
)
async def reset_all(
    engine: ReadyEngine,
    names: Annotated[list[str] | None, Query(description="Only these options.")] = None,
) -> dict[str, Any]:
    """Resets operators' edits of every definition; returns the changed definitions."""
    definitions = await engine.definitions.reset_all(*(names or ()))
    return {"items": await render.definitions(engine, definitions)}


@routes.get("/{key}", "definitions.read", "Definition", summary="Get a definition")
async def get(caller: CurrentCaller, engine: ReadyEngine, key: Key) -> dict[str, Any]:
    """Includes the number of running jobs, the last and next run, success rate and 95th percentile
    of the last 24 hours, the workers that can run its jobs and why others cannot. 404 also for a
    definition that the caller may not see."""
    definition = await engine.definitions.get(key, visible=_visible(caller, engine))
    return await render.definition(engine, definition, caller.scope)


@routes.patch("/{key}", "definitions.write", "Definition", summary="Edit a definition")
async def edit(engine: ReadyEngine, key: Key, body: "DefinitionEdit") -> dict[str, Any]:
    """Overrides the code until reset; omitted fields stay."""
    return await render.definition(engine, await engine.definitions.edit(key, **body.changes()))


@routes.post(
    "/{key}/reset", "definitions.write", "Definition", summary="Reset a definition to the code"
)
async def reset(
    engine: ReadyEngine,
    key: Key,
    names: Annotated[list[str] | None, Query(description="Only these options.")] = None,
) -> dict[str, Any]:
    return await render.definition(engine, await engine.definitions.reset(key, *(names or ())))


@routes.post("/{key}/enable", "definitions.write", "Definition", summary="Enable a definition")
async def enable(engine: ReadyEngine, key: Key) -> dict[str, Any]:
    return await render.definition(engine, await engine.definitions.enable(key))


@routes.post("/{key}/disable", "definitions.write", "Definition", summary="Disable a definition")
async def disable(engine: ReadyEngine, key: Key) -> dict[str, Any]:
    return await render.definition(engine, await engine.definitions.disable(key))


@routes.delete("/{key}", "definitions.write", status_code=204, summary="Delete a definition")
async def delete(engine: ReadyEngine, key: Key) -> None:
    await engine.definitions.delete(key)


def _visible(caller: Caller, engine: Engine) -> Visible:
    return partial(caller.sees, table=engine.access.table)
