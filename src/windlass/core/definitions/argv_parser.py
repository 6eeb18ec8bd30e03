"""Reading the declaration of a command: what cannot work or is not safe is refused here."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeGuard

from windlass.core.definitions import argv_limits, exit_codes
from windlass.core.definitions.exit_codes import ExitCodes
from windlass.core.payloads.schema_marks import applicable_schemas, subschemas_at
from windlass.errors import CommandTemplateInvalid, FieldError
from windlass.errors.wording import json_pointer, listed, nearest, quoted

MOST_WORDS = 100
MOST_OPTIONS = 100
MOST_ERRORS = 20


@dataclass(frozen=True, slots=True)
class OptionField:
    """The place of a payload field's value."""

    name: str


Part = str | OptionField
#: One argument: fixed text and values.
Word = tuple[Part, ...]


class CommandDeclaration(NamedTuple):
    """A parsed declaration of a command."""

    words: tuple[Word, ...]
    options: Mapping[str, str]
    tenant_flag: str | None
    exit_codes: ExitCodes


_KEYS = ("argv", "options", "tenant_flag", "exit_codes")
_PIECE = re.compile(r"\{\{|\}\}|\{(?P<name>[\w$@.-]{1,200})\}|(?P<brace>[{}])")
_FLAG = re.compile(r"--[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_SHELLS = frozenset(
    {"sh", "ash", "bash", "dash", "zsh", "ksh", "mksh", "csh", "tcsh", "fish", "busybox", "cmd",
     "powershell", "pwsh"}
)  # fmt: skip
_SHELL_TEXT = re.compile(r"-[A-Za-z]*c[A-Za-z]*|/[cCkK]|-[Cc]ommand|--command")


class DeclarationReader:
    """One pass over a declaration, and what is wrong with it."""

    def __init__(self, schema: Mapping[str, Any], definition: str) -> None:
        self._schema = schema
        self._definition = definition
        self._errors: list[FieldError] = []
        tops = applicable_schemas([schema], schema)
        self._known = list(dict.fromkeys(name for top in tops for name in _named(top)))
        self._tops = tops

    def read(self, command: object, *, tenant_flag: str) -> CommandDeclaration:
        """The declaration; CommandTemplateInvalid if any of it cannot be used."""
        given = self._object(command)
        words = self._words(given.get("argv"))
        options = self._options(given.get("options") or {})
        tenant = self._tenant_flag(given.get("tenant_flag", tenant_flag))
        codes = self._exit_codes(given.get("exit_codes") or {})
        if tenant is not None:
            self._check_apart(words, options, tenant)
        if self._errors:
            raise CommandTemplateInvalid(self._definition, self._errors[:MOST_ERRORS])
        return CommandDeclaration(words, options, tenant, codes)

    def _object(self, command: object) -> Mapping[str, Any]:
        if isinstance(command, list | tuple):
            return {"argv": command}
        if not isinstance(command, Mapping):
            self._refuse([], "it is neither a list of words nor an object")
            return {"argv": ["-"]}
        for key in command:
            if key not in _KEYS:
                near = nearest(str(key), _KEYS)
                known = f"did you mean {near}?" if near else f"there are {listed(_KEYS)}"
                self._refuse([str(key)], f"not known; {known}")
        return command

    def _words(self, argv: object) -> tuple[Word, ...]:
        if not isinstance(argv, list | tuple) or not 0 < len(argv) <= MOST_WORDS:
            self._refuse(["argv"], f"is not a list of 1 to {MOST_WORDS} texts")
            return ()
        words = tuple(self._word(at, text) for at, text in enumerate(argv))
        self._check_executable(words[0])
        self._check_shells(words)
        return words

    def _word(self, at: int, text: object) -> Word:
        if not isinstance(text, str):
            self._refuse(("argv", at), "is not text")
            return ()
        if problem := argv_limits.argument_problem(text):
            self._refuse(("argv", at), problem)
            return ()
        word = tuple(self._parts(at, text))
        self._check_dashes(at, word)
        return word

    def _parts(self, at: int, text: str) -> Iterator[Part]:
        start, plain = 0, ""
        for found in _PIECE.finditer(text):
            plain += text[start : found.start()]
            start = found.end()
            if found["brace"]:
                problem = "has a brace that belongs to no {field}; write {{ or }} for a plain one"
                self._refuse(("argv", at), problem)
            elif found["name"] is None:
                plain += found[0][0]
            else:
                if plain:
                    yield plain
                plain = ""
                self._check_placed(at, found["name"])
                yield OptionField(found["name"])
        if plain + text[start:]:
            yield plain + text[start:]

    def _check_placed(self, at: int, name: str) -> None:
        place: Sequence[str | int] = ("argv", at)
        if not self._check_known(place, name):
            return
        if name not in _listed(self._schema.get("required")):
            problem = f"{name} may be left out; require it in the schema, or declare it in options"
            self._refuse(place, problem)
        if (types := self._types(name)) and not types & {"string", "integer", "number"}:
            problem = f"{name} is {_either(types)}; a word takes text or a number"
            self._refuse(place, problem)

    def _check_known(self, place: Sequence[str | int], name: str) -> bool:
        if name in self._known:
            return True
        near = nearest(name, self._known)
        hint = f" (did you mean {near}?)" if near else ""
        self._refuse(place, f"the payload schema has no field {quoted(name)}{hint}")
        return False

    def _types(self, name: str) -> frozenset[str]:
        """The JSON types a field may have; empty if the schema does not say."""
        types: set[str] = set()
        for part in subschemas_at(self._tops, name, self._schema):
            said = part.get("type")
            types.update(filter(_is_text, said if isinstance(said, list | tuple) else [said]))
        return frozenset(types)

    def _check_dashes(self, at: int, word: Word) -> None:
        # What stands before the = of an option is its name.
        match word:
            case (str(start), _, *_) if start.startswith("-") and "=" not in start:
                problem = "a value would become part of an option; write --flag={field}"
                self._refuse(("argv", at), problem)
            case _:
                pass

    def _check_executable(self, word: Word) -> None:
        match word:
            case (str(text),) if not text.startswith("-"):
                return
            case _:
                problem = "the executable is fixed text that does not begin with a dash"
                self._refuse(("argv", 0), problem)

    def _check_shells(self, words: tuple[Word, ...]) -> None:
        shell = False
        for at, word in enumerate(words):
            text = "".join(part for part in word if isinstance(part, str))
            if shell and _SHELL_TEXT.fullmatch(text):
                self._refuse(("argv", at), "a shell would read the next word as a program")
            name = text.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
            shell = shell or name in _SHELLS

    def _options(self, options: object) -> Mapping[str, str]:
        if not isinstance(options, Mapping) or len(options) > MOST_OPTIONS:
            problem = f"is not an object of up to {MOST_OPTIONS} payload fields and their flags"
            self._refuse(["options"], problem)
            return MappingProxyType({})
        read: dict[str, str] = {}
        for name, flag in options.items():
            place = ("options", str(name))
            if not isinstance(name, str) or not self._check_known(place, name):
                continue
            if not isinstance(flag, str) or not _FLAG.fullmatch(flag):
                self._refuse(place, f"{quoted(flag)} is no flag such as --path-prefix")
            elif flag in read.values():
                self._refuse(place, f"{flag} is given to two fields")
            elif self._types(name) == {"object"}:
                self._refuse(place, "an object cannot be passed to a command")
            else:
                read[name] = flag
        return MappingProxyType(read)

    def _tenant_flag(self, flag: object) -> str | None:
        if flag is None or (isinstance(flag, str) and _FLAG.fullmatch(flag)):
            return flag
        self._refuse(["tenant_flag"], f"{quoted(flag)} is no flag such as --tenant-id")
        return None

    def _exit_codes(self, codes: object) -> ExitCodes:
        try:
            return exit_codes.parse(codes, definition=self._definition)
        except CommandTemplateInvalid as error:
            self._errors += error.errors
            return ExitCodes()

    def _check_apart(
        self, words: tuple[Word, ...], options: Mapping[str, str], tenant_flag: str
    ) -> None:
        # Many programs take --tenant for --tenant-id, and the last one given.
        for name, flag in options.items():
            if tenant_flag.startswith(flag):
                self._refuse(["options", name], f"could be taken for {tenant_flag}")
        for at, word in enumerate(words):
            flag = word[0].partition("=")[0] if word and isinstance(word[0], str) else ""
            if len(flag) > 2 and tenant_flag.startswith(flag):
                self._refuse(("argv", at), f"{tenant_flag} is added from the job, not written here")

    def _refuse(self, place: Sequence[str | int], problem: str) -> None:
        self._errors.append(FieldError(json_pointer(place), problem))


def _named(schema: Mapping[str, Any]) -> Iterator[str]:
    properties = schema.get("properties")
    yield from filter(_is_text, properties if isinstance(properties, Mapping) else ())


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _either(types: frozenset[str]) -> str:
    return " or ".join(sorted(types))


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()
