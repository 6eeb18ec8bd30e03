"""Changes several things: confirms, applies the change to each, prints each, returns one exit
code."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from windlass.cli.framework.exit_codes import Exit
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Item, cell
from windlass.errors import WindlassError
from windlass.errors.wording import counted

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject

Change = Callable[["Client", str], Awaitable["JsonObject"]]

_EXAMPLES_ASKED = 3


def change_each(
    call: Invocation,
    nouns: str,
    names: Sequence[str],
    change: Change,
    *,
    doing: str,
    show: Callable[[Item], str],
    dry_run: bool,
    key: str = "id",
    ask: bool = False,
    look: Change | None = None,
) -> int:
    """Change everything named and return the exit code: that of the only error, or one that says
    how many succeeded. With `dry_run` things are only read: at their own path, or with `look`.

    More than one needs a confirmation; with `ask` a single one does too. A person sees what `show`
    returns for each, a program its `key`.
    """
    if not dry_run and (ask or len(names) > 1):
        _confirm(call, names, f"{doing} {counted(len(names), nouns.removesuffix('s'))}")
    act = (look or _look(nouns)) if dry_run else change

    async def each(api: "Client") -> "tuple[list[JsonObject], list[WindlassError]]":
        done, refused = [], []
        for name in names:
            try:
                done.append(await act(api, name))
            except WindlassError as error:
                if len(names) == 1:
                    raise
                refused.append(error)
        return done, refused

    done, refused = call.ask(each)
    for item in done:
        print_item(call, item, show, key=key)
    return _exit_code(call, len(done), refused)


def post_change(nouns: str, verb: str, body: object = None) -> Change:
    """A change that posts to a verb of the API."""

    async def post(api: "Client", name: str) -> "JsonObject":
        from windlass.cli.connect.api_client import path

        return await api.post(path(nouns, name, verb), body)

    return post


def patch_change(nouns: str, body: object) -> Change:
    """A change that patches some fields."""

    async def patch(api: "Client", name: str) -> "JsonObject":
        from windlass.cli.connect.api_client import path

        return await api.patch(path(nouns, name), body)

    return patch


def print_item(
    call: Invocation, item: Item, show: Callable[[Item], str], *, key: str = "id"
) -> None:
    """Print one created or changed thing: whole as JSON, one line for a person, or its key."""
    match call.out.format:
        case "json" | "jsonl":
            call.out.json(item)
        case "people":
            call.out.data(show(item))
        case _:
            call.out.data(cell(item[key]))


def _look(nouns: str) -> Change:
    async def get(api: "Client", name: str) -> "JsonObject":
        from windlass.cli.connect.api_client import path

        return await api.get(path(nouns, name))

    return get


def _confirm(call: Invocation, names: Sequence[str], action: str) -> None:
    shown = ", ".join(names[:_EXAMPLES_ASKED])
    more = ", …" if len(names) > _EXAMPLES_ASKED else ""
    call.confirm(action, f"{action[:1].upper()}{action[1:]} ({shown}{more}). Go on?")


def _exit_code(call: Invocation, done: int, refused: Sequence[WindlassError]) -> int:
    from windlass.cli.framework.error_report import report

    codes = [report(error, call.flags) for error in refused]
    if not codes:
        return Exit.OK
    call.out.say(f"{done} done, {len(codes)} refused.")
    return Exit.PARTLY if done else codes[0]
