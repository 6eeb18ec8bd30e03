"""Handlers of definitions that operators create: a dotted path, a command in the settings, or a
remote worker."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from windlass.core.definitions import argv as argvs
from windlass.core.definitions.command_payload import closed
from windlass.core.definitions.definition import Definition, DefinitionKind
from windlass.core.definitions.handler_path import check_path
from windlass.core.jobs.dedupe import check_name
from windlass.core.payloads.json_text import dump_json, load_json
from windlass.core.payloads.schema_payload import JsonSchemaPayload
from windlass.errors import DefinitionInvalid, FieldError, PayloadInvalid
from windlass.settings import Settings

#: The options that only an operator's own definition can have.
OF_HANDLERS = ("kind", "path", "command", "payload_schema")


class _Handler(NamedTuple):
    kind: DefinitionKind
    name: str


class HandlerRules:
    """The handlers and payload schemas that the settings allow."""

    def __init__(self, settings: Settings) -> None:
        self._paths = settings.worker.handler_paths
        self._commands = settings.commands
        self._limit = settings.limits.payload_bytes

    def apply(self, row: Definition, options: Mapping[str, Any]) -> Definition:
        """The row with the given handler and payload schema; DefinitionInvalid names what is not
        allowed."""
        if not options:
            return row
        if row.origin == "code":
            name = next(name for name in OF_HANDLERS if name in options)
            raise DefinitionInvalid(
                row.key,
                f"code declares it, and its {name.replace('_', ' ')} with it",
                hint="Change the code, or make a definition with another key.",
                pointer=f"/{name}",
            )
        kind, name = self._handler(row, options)
        schema = options.get("payload_schema")
        if schema is None:
            same = (kind, name) == (row.kind, row.handler)
            schema = load_json(row.payload_schema) if same else self._own_schema(kind, name)
        if kind == "command":
            schema = self._for_command(row.key, name, schema)
        JsonSchemaPayload(schema, definition=row.key, limit=self._limit)
        isolation = "process" if kind == "command" else row.isolation
        if row.kind == "command" and kind != "command":
            isolation = "thread"
        return replace(
            row,
            kind=kind,
            handler=name,
            isolation=isolation,
            payload_schema=dump_json(dict(schema), what="payload schema"),
        )

    def _handler(self, row: Definition, options: Mapping[str, Any]) -> _Handler:
        path, command, kind = (options.get(name) for name in ("path", "command", "kind"))
        if path is not None and command is not None:
            raise _invalid_handler(
                row.key, "it has a path and a command", "Give one of them.", "/command"
            )
        found: _Handler | None = None
        if path is not None:
            found = _Handler("path", check_path(row.key, check_name("path", path), self._paths))
        elif command is not None:
            found = _Handler("command", self._command(row.key, command))
        elif kind == "remote":
            found = _Handler("remote", "")
        elif kind in (None, row.kind) and (row.handler or row.kind == "remote"):
            found = _Handler(row.kind, row.handler)
        if found is None:
            raise _invalid_handler(
                row.key,
                "it has no handler",
                "Give a path, the name of a command in the settings, or the kind remote.",
                "/kind" if kind else "/path",
            )
        if kind not in (None, found.kind):
            raise _invalid_handler(
                row.key,
                f"its kind is {kind}, and its handler is that of the kind {found.kind}",
                "Leave the kind out, or give its handler.",
                "/kind",
            )
        return found

    def _command(self, key: str, name: str) -> str:
        if check_name("command", name) not in self._commands:
            allowed = ", ".join(sorted(self._commands)) or "none"
            raise _invalid_handler(
                key,
                f"the settings have no command {name!r}",
                f"Allowed are: {allowed}; see `[commands.<name>]` in windlass.toml.",
                "/command",
            )
        return name

    def _own_schema(self, kind: DefinitionKind, name: str) -> Mapping[str, Any]:
        return (self._commands[name].payload_schema or {}) if kind == "command" else {}

    def _for_command(self, key: str, name: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Check that a schema only narrows the one that the settings give the command."""
        command = self._commands[self._command(key, name)]
        narrowed, allowed = closed(schema), closed(command.payload_schema or {})
        extra = [each for each in narrowed["properties"] if each not in allowed["properties"]]
        if extra and allowed.get("additionalProperties") is False:
            raise _invalid_handler(
                key,
                f"the command {name!r} takes no field {extra[0]!r}",
                f"It takes: {', '.join(allowed['properties']) or 'none'}.",
                "/payload_schema",
            )
        template = {
            "argv": list(command.run or ()),
            "options": command.options,
            "exit_codes": command.exit_codes,
            "tenant_flag": None if command.tenant_flag is False else command.tenant_flag,
        }
        given = {
            part: value
            for part, value in template.items()
            if value is not None or (part == "tenant_flag" and command.tenant_flag is False)
        }
        argvs.parse(given, narrowed, definition=key)
        return narrowed


def check_complete(row: Definition, limit: int) -> None:
    """Refuse a definition whose options contradict each other."""
    if row.limit_key is None and (row.max_per_key is not None or row.key_rate_count is not None):
        raise _invalid_handler(
            row.key,
            "it has a limit per key, and no key",
            "Say which field of the payload is the key, such as args.account_id.",
            "/limit_key",
        )
    if row.kind == "command" and row.isolation != "process":
        problem = "a command always runs in processes of its own"
        raise _invalid_handler(row.key, problem, "Leave the isolation out.", "/isolation")
    if row.kind == "code" and row.isolation == "process" and "<" in row.handler:
        raise _invalid_handler(
            row.key,
            "it stands inside another function, so a child process cannot find it",
            "Move it to the top of its module, or leave it in a thread.",
            "/isolation",
        )
    if row.memory_limit_mb is not None and row.isolation != "process":
        raise _invalid_handler(
            row.key,
            "it has a memory limit, which only a process of its own can keep",
            "Set the isolation to process, or leave the limit out.",
            "/memory_limit_mb",
        )
    _check_default(row, limit)


def _check_default(row: Definition, limit: int) -> None:
    """Refuse a default payload that does not fit the schema. If it leaves required fields to the
    caller, it is checked only together with the caller's payload."""
    schema, default = load_json(row.payload_schema), load_json(row.default_payload)
    if default and all(name in default for name in schema.get("required", ())):
        try:
            JsonSchemaPayload(schema, definition=row.key, limit=limit).write(default)
        except PayloadInvalid as error:
            at = [FieldError(f"/default_payload{e.pointer}", e.message) for e in error.errors]
            raise PayloadInvalid(row.key, at) from None


def _invalid_handler(key: str, problem: str, hint: str, pointer: str) -> DefinitionInvalid:
    return DefinitionInvalid(key, problem, hint=hint, pointer=pointer)
