"""One change to each of several things: asked about first, told one by one, judged at the end."""

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
    """Change all that are named, and answer the exit code: of the one error there was, or of how
    much was done. With `dry_run` they are only looked at: each at its place, or by `look`.

    More than one are asked about first, and with `ask` a single one too. A person reads of each
    what `show` says, a program its `key`.
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
    """The change that a verb of the API makes."""

    async def post(api: "Client", name: str) -> "JsonObject":
        from windlass.cli.connect.api_client import path

        return await api.post(path(nouns, name, verb), body)

    return post


def patch_change(nouns: str, body: object) -> Change:
    """The change of some fields."""

    async def patch(api: "Client", name: str) -> "JsonObject":
        from windlass.cli.connect.api_client import path

        return await api.patch(path(nouns, name), body)

    return patch


def print_item(
    call: Invocation, item: Item, show: Callable[[Item], str], *, key: str = "id"
) -> None:
    """One thing that was made or changed: whole as JSON, as a line to a person, or its key."""
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


def _confirm(call: Invocation, names: Sequence[str], what: str) -> None:
    shown = ", ".join(names[:_EXAMPLES_ASKED])
    more = ", …" if len(names) > _EXAMPLES_ASKED else ""
    call.confirm(what, f"{what[:1].upper()}{what[1:]} ({shown}{more}). Go on?")


def _exit_code(call: Invocation, done: int, refused: Sequence[WindlassError]) -> int:
    from windlass.cli.framework.error_report import report

    codes = [report(error, call.flags) for error in refused]
    if not codes:
        return Exit.OK
    call.out.say(f"{done} done, {len(codes)} refused.")
    return Exit.PARTLY if done else codes[0]
