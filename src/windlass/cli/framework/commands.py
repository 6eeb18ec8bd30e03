"""Command and group classes over click's: global flags in any position, examples in every help,
groups that import a command only when it runs, and suggestions for mistyped names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from importlib import import_module
from typing import Any, Concatenate, ParamSpec

import click
from click.shell_completion import CompletionItem

from windlass.cli.completion.live_values import complete_live
from windlass.cli.framework.dry_run import DryRunRequest
from windlass.cli.framework.flags import flags_of, global_options, name_variables
from windlass.cli.framework.invocation import Invocation
from windlass.errors import CommandInvalid
from windlass.errors.wording import nearest, quoted

P = ParamSpec("P")

_HELP_NAMES = ["-h", "--help"]
_SETTINGS = {"help_option_names": _HELP_NAMES, "max_content_width": 100}
MORE_FLAGS = "Global flags work here too: windlass --help lists them."


class _HelpLayout:
    """Flags and help layout of commands and groups."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", _SETTINGS)
        self.examples = examples
        super().__init__(*args, **kwargs)
        self.params: list[click.Parameter]
        self.params = [*self.params, *global_options(hidden=not self._lists_flags)]
        name_variables(self.params)
        complete_live(self.params)

    @property
    def _lists_flags(self) -> bool:
        return False

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        # Ignore the context: click caches the names of the first caller.
        return _HELP_NAMES

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        if not self._lists_flags:
            formatter.write_paragraph()
            formatter.write_text(MORE_FLAGS)


class CommandWithCall(_HelpLayout, click.Command):
    """A command; `with_call` passes it its invocation."""


class Runner(CommandWithCall):
    """A command that runs jobs or serves: it follows a context only if one is given by name."""


class Group(_HelpLayout, click.Group):
    """A noun and its commands."""

    command_class = CommandWithCall

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # No error while a shell completes the line.
        if self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            near = nearest(args[0], self.list_commands(ctx))
            path = ctx.command_path
            raise CommandInvalid(
                f"no command named {quoted(f'{path} {args[0]}')}.",
                hint=(f"Did you mean `{path} {near}`? " if near else "")
                + f"`{path} --help` lists the commands.",
            )
        return super().resolve_command(ctx, args)


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """The module and name of a command, and its help line for lists, which need no import."""

    module: str
    name: str
    help: str


class LazyGroup(Group):
    """The top-level group. It imports only the command that runs."""

    def __init__(self, *args: Any, lazy: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        self._lazy = lazy
        super().__init__(*args, **kwargs)

    @property
    def _lists_flags(self) -> bool:
        return True

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        lazy = self._lazy.get(cmd_name)
        if lazy is None:
            return None
        command: click.Command = getattr(import_module(lazy.module), lazy.name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        found = [
            CompletionItem(name, help=lazy.help)
            for name, lazy in self._lazy.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.help) for name, lazy in self._lazy.items()])
        click.Command.format_options(self, ctx, formatter)


def with_call(command: Callable[Concatenate[Invocation, P], int | None]) -> Callable[P, int]:
    """Pass the invocation to a command; the command's return value is the exit code."""

    def run(*args: P.args, **kwargs: P.kwargs) -> int:
        ctx = click.get_current_context()
        runs_here = isinstance(ctx.command, Runner)
        if runs_here:
            from windlass.worker.isolation.prctl import deny_inspection

            # Handlers run commands as the same user: they must not read these settings.
            deny_inspection()
        # Every command that writes has it.
        writes = any("--dry-run" in param.opts for param in ctx.command.params)
        call = Invocation(flags_of(ctx), runs_here=runs_here, only_reads=not writes)
        try:
            return command(call, *args, **kwargs) or 0
        except DryRunRequest as end:
            would = (call.flags.would or "").format_map(ctx.params)
            call.out.print_dry_run(would, end.request)
            return 0

    return update_wrapper(run, command)
