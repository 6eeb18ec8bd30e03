"""Commands as jobs: the exact argument list for a payload, with no shell in between.

    {"argv": ["zoltag", "sync", "{provider_id}"], "options": {"path_prefix": "--path-prefix"}}

makes `zoltag sync 42 --tenant-id acme --path-prefix=/in`. Everything is fixed but the values: the
executable, the number of words, the flags. A value can never become an option: where one could be
taken for an option, it is refused when it begins with a dash; behind a flag it follows a `=`. Fields
that are not named here never reach the command.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windlass.core.definitions import argv_limits
from windlass.core.definitions.argv_parser import DeclarationReader, OptionField, Part, Word
from windlass.core.definitions.exit_codes import ExitCodes
from windlass.errors import ArgumentRefused
from windlass.errors.wording import json_pointer

#: The flag by which a command is told whose job it runs.
TENANT_FLAG = "--tenant-id"


def parse(command: object, schema: Mapping[str, Any], *, definition: str) -> "ArgvTemplate":
    """Read the declaration of a command: a list of words, or an object of

    - `argv`: the executable and its words; `{field}` stands for a required field of the payload,
      `{{` and `}}` for plain braces. Words behind a `--` may begin with a dash.
    - `options`: payload field -> flag. Text and numbers become `--flag=value`, true the flag alone,
      false and null nothing, a list one flag for each of its values.
    - `tenant_flag`: `--tenant-id` unless said otherwise; null for a command that knows no tenants.
    - `exit_codes`: what exit codes mean, such as {75: "retry", 64: "permanent"}.

    `schema` is the payload's. CommandTemplateInvalid names everything that cannot work.
    """
    declared = DeclarationReader(schema, definition).read(command, tenant_flag=TENANT_FLAG)
    return ArgvTemplate(definition, *declared)


@dataclass(frozen=True, slots=True)
class ArgvTemplate:
    """A command whose argument list can be made."""

    definition: str
    words: tuple[Word, ...]
    options: Mapping[str, str]
    tenant_flag: str | None
    exit_codes: ExitCodes

    @property
    def executable(self) -> str:
        """The program that runs."""
        return "".join(map(str, self.words[0]))

    @property
    def fields(self) -> frozenset[str]:
        """The fields of the payload that reach the command."""
        placed = {
            part.name for word in self.words for part in word if isinstance(part, OptionField)
        }
        return frozenset(placed | self.options.keys())

    def build(self, payload: Mapping[str, Any], tenant: str) -> list[str]:
        """The argument list, executable first, for a validated payload and the job's tenant.

        ArgumentRefused if a value could be taken for an option, is no text, or is too long.
        """
        end = next((at for at, word in enumerate(self.words) if word == ("--",)), len(self.words))
        argv = [self._word(word, payload, guarded=True) for word in self.words[:end]]
        argv += self._tenant(tenant)
        for name, flag in self.options.items():
            argv += self._option(name, flag, payload.get(name))
        # Flags behind a -- would be none.
        argv += [self._word(word, payload, guarded=False) for word in self.words[end:]]
        if problem := argv_limits.arguments_problem(argv):
            raise ArgumentRefused(self.definition, problem)
        return argv

    def _word(self, word: Word, payload: Mapping[str, Any], *, guarded: bool) -> str:
        text = "".join(self._part(part, payload) for part in word)
        first = next((part for part in word if part), None)
        if guarded and text.startswith("-") and isinstance(first, OptionField):
            raise self._refused(first.name, "begins with a dash and would be taken for an option")
        return text

    def _part(self, part: Part, payload: Mapping[str, Any]) -> str:
        if isinstance(part, str):
            return part
        value = payload.get(part.name)
        if value is None:
            raise self._refused(part.name, "is required by the command")
        if isinstance(value, bool):
            raise self._refused(part.name, "is true or false, which can only become a flag")
        return self._text(part.name, value)

    def _tenant(self, tenant: str) -> Sequence[str]:
        if self.tenant_flag is None:
            return ()
        problem = argv_limits.argument_problem(tenant)
        if not tenant or tenant.startswith("-"):
            problem = "is empty or begins with a dash"
        if problem:
            raise ArgumentRefused(self.definition, f"the tenant's id {problem}")
        return (self.tenant_flag, tenant)

    def _option(self, name: str, flag: str, value: Any) -> Sequence[str]:
        match value:
            case None | False:
                return ()
            case True:
                return (flag,)
            case list() | tuple():
                if len(value) > argv_limits.MOST_ARGUMENTS:
                    raise self._refused(name, "has too many values")
                return [f"{flag}={self._item(name, part)}" for part in value]
            case _:
                return (f"{flag}={self._text(name, value)}",)

    def _item(self, name: str, value: Any) -> str:
        if value is None or isinstance(value, bool):
            raise self._refused(name, "has a value that is neither text nor a number")
        return self._text(name, value)

    def _text(self, name: str, value: Any) -> str:
        if not isinstance(value, str | int | float):
            raise self._refused(name, "is neither text nor a number")
        try:
            text = str(value)
        except ValueError:
            raise self._refused(name, "is a number of too many digits") from None
        if problem := argv_limits.argument_problem(text):
            raise self._refused(name, problem)
        return text

    def _refused(self, name: str, problem: str) -> ArgumentRefused:
        return ArgumentRefused(self.definition, problem, pointer=json_pointer([name]))
