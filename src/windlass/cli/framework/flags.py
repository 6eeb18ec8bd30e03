"""Flags that every command takes, before or after its name, and their values.

Every flag has a variable: --no-input is WINDLASS_NO_INPUT. A flag that stands for a setting has the
setting's own variable, which the settings read.
"""

from dataclasses import dataclass, field
from typing import Any, Literal, cast

import click
from click.core import ParameterSource

Format = Literal["table", "json", "jsonl", "csv", "id"]
FORMATS: tuple[Format, ...] = ("table", "json", "jsonl", "csv", "id")


@dataclass(slots=True)
class Flags:
    """The values of the global flags, collected while a command line is parsed. A flag after the
    command wins over one before it, and both win over the environment."""

    context: str | None = None
    db: str | None = None
    url: str | None = None
    token_file: str | None = None
    tenant: str | None = None
    all_tenants: bool = False
    columns: str | None = None
    output: Format = "table"
    json: bool = False
    utc: bool = False
    color: Literal["auto", "always", "never"] = "auto"
    yes: bool = False
    no_input: bool = False
    timeout: str | None = None
    quiet: bool = False
    verbose: bool = False
    debug: bool = False
    #: With --dry-run, the description of the change.
    would: str | None = None
    _typed: set[str] = field(default_factory=set)

    def remember(self, name: str, value: object, *, typed: bool) -> None:
        """Store a typed value, or the environment's value where no flag was typed."""
        if typed or name not in self._typed:
            setattr(self, name, value)
        if typed:
            self._typed.add(name)

    def typed(self, name: str) -> bool:
        """True if a flag was given on the command line."""
        return name in self._typed

    @property
    def format(self) -> Format:
        return "json" if self.json else self.output


class SettingOption(click.Option):
    """A flag for a setting: the settings read its variable, so that its origin is known."""


def global_options(*, hidden: bool) -> list[click.Option]:
    """The global flags as click options. Only the top command's help lists them."""

    def flag(*names: str, kind: type[click.Option] = click.Option, **more: Any) -> click.Option:
        return kind([*names], hidden=hidden, expose_value=False, callback=_remember, **more)

    return [
        flag(
            "--context",
            metavar="NAME",
            help="Use this server or database; `windlass config contexts` lists them.",
        ),
        flag(
            "--db",
            kind=SettingOption,
            metavar="URL",
            help="Database, sqlite:///windlass.db by default. [WINDLASS_DATABASE_URL]",
        ),
        flag("--url", metavar="URL", help="Use the server at this address instead of a database."),
        flag(
            "--token-file",
            type=click.Path(dir_okay=False),
            help="File with the server's token; the default is WINDLASS_TOKEN.",
        ),
        flag("-t", "--tenant", metavar="ID", help="Show and change only this tenant's data."),
        flag(
            "--all-tenants",
            is_flag=True,
            help="All tenants, even if the context or environment sets one.",
        ),
        flag(
            "-o",
            "--output",
            type=click.Choice(FORMATS),
            metavar="FORMAT",
            help="table (tab-separated in a pipe), json, jsonl, csv or id.",
        ),
        flag("--json", is_flag=True, help="The same as --output json."),
        flag("--columns", metavar="A,B,C", help="Columns of a list, in this order."),
        flag("--utc", is_flag=True, help="Show times in UTC instead of the local zone."),
        flag(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            metavar="WHEN",
            help="auto, always or never.",
        ),
        flag("-y", "--yes", is_flag=True, help="Do not ask for confirmation."),
        flag("--no-input", is_flag=True, help="Never ask: fail where a confirmation is needed."),
        flag("--timeout", metavar="DURATION", help="Time limit of the command, such as 30s or 5m."),
        flag("--quiet", is_flag=True, help="Print data and errors, no messages."),
        flag("-v", "--verbose", is_flag=True, help="Verbose output."),
        flag("--debug", is_flag=True, help="Show the traceback of an error."),
    ]


def name_variables(params: list[click.Parameter]) -> None:
    """Give every flag without a variable one: --dedupe-key gets WINDLASS_DEDUPE_KEY."""
    for param in params:
        if not isinstance(param, click.Option) or isinstance(param, SettingOption):
            continue
        if param.envvar is None and (names := [o for o in param.opts if o.startswith("--")]):
            param.envvar = "WINDLASS_" + names[0][2:].replace("-", "_").upper()


def flags_of(ctx: click.Context) -> Flags:
    """The flags of the command line being parsed."""
    return cast("Flags", ctx.find_root().obj)


def _remember(ctx: click.Context, param: click.Parameter, value: object) -> None:
    assert param.name is not None
    source = ctx.get_parameter_source(param.name)
    if source in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT):
        typed = source is ParameterSource.COMMANDLINE
        flags_of(ctx).remember(param.name, value, typed=typed)
