"""2xxx: requests — commands, payloads, options, definitions, tenants."""

from collections.abc import Collection, Sequence

from windlass.errors.base import FieldError, WindlassError
from windlass.errors.wording import counted, did_you_mean, nearest, quoted, sentence
from windlass.ids import SHORTEST_SUFFIX

#: An example of an id, for messages.
_ID = "0197c1a2-6f3e-7b04-9d51-3c8c1f42d7aa"
_ID_CHARACTERS = frozenset("0123456789abcdefABCDEF-")


class CommandInvalid(WindlassError):
    """The command line cannot be understood: an unknown command or flag, a value too many, one
    missing, or one that is not what it should be."""

    code = "WL2001"

    def __init__(
        self, problem: str, *, hint: str = "`windlass --help` lists the commands."
    ) -> None:
        super().__init__(problem, hint=hint)


class ConfirmationNeeded(WindlassError):
    """The command asks for confirmation, and cannot: there is no terminal, or
    --no-input was given."""

    code = "WL2002"

    def __init__(self, doing: str) -> None:
        self.doing = doing
        super().__init__(
            f"{doing} needs a confirmation.",
            reason="This is not a terminal, or --no-input was given, so the command cannot ask.",
            hint="Add --yes to confirm; --dry-run shows what would be done.",
        )


class PayloadInvalid(WindlassError):
    """The payload does not fit the definition's schema. `errors` has each field at fault."""

    code = "WL2004"

    def __init__(self, definition: str, errors: Sequence[FieldError]) -> None:
        self.definition = definition
        fields = sum(bool(error.pointer) for error in errors)
        what = {0: "that", 1: "this field"}.get(fields, f"these {fields} fields")
        super().__init__(
            f"payload for {quoted(definition)} is not valid.",
            reason=sentence("; ".join(map(str, errors))),
            hint=f"Fix {what}; schema: `windlass definitions schema {definition}`.",
            errors=errors,
        )


class PayloadTooLarge(WindlassError):
    """The payload is larger than a job may carry."""

    code = "WL2005"

    def __init__(self, definition: str, *, size: int, limit: int) -> None:
        self.definition = definition
        #: Whether it is about a payload, and not about all of a request.
        self.of_payload = definition != "the request"
        self.size = size
        self.limit = limit
        super().__init__(
            f"payload for {quoted(definition)} is too large.",
            reason=f"It has {size:,} bytes, the limit is {limit:,}.",
            hint="Store the data elsewhere and pass its name or address.",
            errors=[FieldError("", f"{size:,} bytes, the limit is {limit:,}")],
        )


class PayloadUnstorable(WindlassError):
    """The payload holds something no database could give back as it is: NUL characters, halves
    of surrogate pairs, NaN or infinities, numbers beyond the range of a double, too many levels, a
    key that stands twice in an object, or a value that is not JSON."""

    code = "WL2006"

    def __init__(self, problem: str, *, pointer: str = "", what: str = "payload") -> None:
        self.pointer = pointer
        #: Whether it is about a payload, and not about all of a request.
        self.of_payload = what == "payload"
        super().__init__(
            f"{what} cannot be stored.",
            reason=sentence(f"{pointer}: {problem}" if pointer else f"it {problem}"),
            hint="Pass plain JSON: text without NUL, numbers within the range of a double, lists, and "
            "objects with each key once.",
            errors=[FieldError(pointer, problem)],
        )


class OptionInvalid(WindlassError):
    """An option has a value it cannot have."""

    code = "WL2007"

    def __init__(self, option: str, value: object, *, allowed: str, problem: str = "") -> None:
        self.option = option
        self.value = value
        self.allowed = allowed
        self.problem = problem
        wrong = f": {problem}" if problem else ""
        super().__init__(
            f"{option} is missing." if value is None else f"{option} cannot be {quoted(value)}.",
            reason=sentence(problem) if problem else "",
            hint=f"Give {allowed}.",
            errors=[
                FieldError(
                    f"/{option.replace('.', '/')}", f"{quoted(value)} is not {allowed}{wrong}"
                )
            ],
        )

    def renamed(self, name: str, value: object, pointer: str) -> "OptionInvalid":
        """The same of an option that its caller spells otherwise; a `value` of None is not known."""
        shown = self.value if value is None else value
        made = OptionInvalid(name, shown, allowed=self.allowed, problem=self.problem)
        made.errors = (FieldError(pointer, made.errors[0].message),)
        return made


class IdInvalid(OptionInvalid):
    """Text that can be neither an id nor the end of one."""

    code = "WL2009"

    def __init__(self, text: str, *, noun: str, shape: str = "", command: str = "") -> None:
        typed = text.strip()
        shape = shape or f"An id has 32 digits (0-9, a-f), such as {_ID}; its last 6 are enough"
        hexadecimal = set(typed) <= _ID_CHARACTERS
        if len(typed) < SHORTEST_SUFFIX:
            fault = f"{quoted(typed)} has {len(typed)}"
        elif hexadecimal:
            fault = f"{quoted(typed)} is too long"
        else:
            fault = f"{quoted(typed)} has other characters"
        super().__init__(
            f"{noun} id", text, allowed="a whole id, or its last six or more characters"
        )
        self.message = f"no {noun} matches {quoted(typed)}."
        self.args = (self.message,)
        self.reason = f"{shape}, and {fault}."
        self.hint = f"`{command or f'windlass {noun}s list'}` shows the ids."
        self.errors = (FieldError("", f"{quoted(typed)} is not a {noun} id"),)


class FilterInvalid(WindlassError):
    """A filter cannot be understood. `part` is what is wrong with it, `at` where that begins, counted
    from 0; None if it is in no text."""

    code = "WL2008"

    def __init__(self, part: str, problem: str, *, at: int | None, hint: str) -> None:
        self.part = part
        self.at = at
        where = "" if at is None else f" at character {at + 1}"
        what = f": {quoted(part)}" if part else ""
        super().__init__(
            f"the filter cannot be understood{where}{what}.",
            reason=sentence(problem),
            hint=hint,
            errors=[FieldError("", f"{problem}{where}")],
        )


class DefinitionNotFound(WindlassError):
    """No definition has this key. Its code was never synchronised, or the key has a typo."""

    code = "WL2107"

    def __init__(self, key: str, *, known: Collection[str] = ()) -> None:
        self.key = key
        self.near = nearest(key, known)
        count = counted(len(known), "definition")
        super().__init__(
            f"no definition named {quoted(key)}.",
            reason=f"{count} {'is' if len(known) == 1 else 'are'} known."
            if known
            else "No definition is known yet.",
            hint=did_you_mean(key, known)
            + "New code? Start a worker that imports it or run `windlass definitions sync`.",
        )


class DefinitionDisabled(WindlassError):
    """The definition takes no new jobs until someone enables it; its queued jobs wait."""

    code = "WL2108"

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(
            f"definition {quoted(key)} is disabled.",
            reason="A disabled definition takes no new jobs, and its queued jobs wait.",
            hint=f"Enable it: `windlass definitions enable {key}`.",
        )


class DefinitionInvalid(WindlassError):
    """A definition is declared in a way that cannot work. `pointer` names the field, where it is one."""

    code = "WL2109"

    def __init__(
        self,
        key: str,
        problem: str,
        *,
        hint: str = "Change the declaration.",
        pointer: str | None = None,
    ) -> None:
        self.key = key
        super().__init__(
            f"definition {quoted(key)} cannot work.",
            reason=sentence(problem),
            hint=hint,
            errors=[] if pointer is None else [FieldError(pointer, problem)],
        )


class JobVerbUnknown(WindlassError, AttributeError):
    """A declared job has no attribute of this name: it is another library's. It is an
    AttributeError, too."""

    code = "WL2114"

    def __init__(self, verb: str, *, ours: str) -> None:
        self.verb = verb
        super().__init__(f"a job has no `{verb}`.", hint=f"Use {ours}.")


class DefinitionExists(WindlassError):
    """A definition cannot be made, because one has this key."""

    code = "WL2113"

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(
            f"there is a definition {quoted(key)} already.",
            reason="A definition's key is its one name.",
            hint=f"Take another key, or change that one: `windlass definitions show {key}`.",
        )


class DefinitionInUse(WindlassError):
    """A definition cannot be deleted while jobs, ended ones included, or triggers refer to it."""

    code = "WL2112"

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(
            f"definition {quoted(key)} cannot be deleted: it is in use.",
            reason="A trigger makes jobs of it, or there are jobs of it, ended ones included.",
            hint=f"To stop it: `windlass definitions disable {key}`. Ended jobs are pruned in time.",
        )


class TenantNotFound(WindlassError):
    """No tenant has this id, or it was deleted."""

    code = "WL2201"

    def __init__(self, tenant: str, *, known: Collection[str] = ()) -> None:
        self.tenant = tenant
        super().__init__(
            f"no tenant {quoted(tenant)}.",
            hint=did_you_mean(tenant, known)
            + "`windlass tenants list` shows the tenants, `windlass tenants create` adds one.",
        )


class TenantSuspended(WindlassError):
    """The tenant takes no new jobs until someone resumes it."""

    code = "WL2202"

    def __init__(self, tenant: str) -> None:
        self.tenant = tenant
        super().__init__(
            f"tenant {quoted(tenant)} is suspended.",
            reason="A suspended tenant takes no new jobs.",
            hint=f"Resume it: `windlass tenants resume {tenant}`.",
        )


class PayloadKeyMissing(WindlassError):
    """A stored payload is encrypted with a key that this process does not have.

    Nothing is lost: a worker that meets such a job puts it back for a minute, and the attempt does
    not count.
    """

    code = "WL2210"

    def __init__(self, definition: str, *, key_id: str, known: Collection[str] = ()) -> None:
        self.definition = definition
        self.key_id = key_id
        has = f"has {', '.join(sorted(known))}" if known else "has none"
        super().__init__(
            f"the payload of a job of {quoted(definition)} is encrypted with the key {key_id}.",
            reason=f"This process {has}.",
            hint="Add that key to encryption.keys or to the file encryption.key_file.",
        )


class PayloadUndecryptable(WindlassError):
    """A stored payload does not decrypt, although its key is known.

    The row was changed in the database, or its ciphertext was copied from a job of another tenant
    or definition.
    """

    code = "WL2211"

    def __init__(self, definition: str, *, key_id: str) -> None:
        self.definition = definition
        self.key_id = key_id
        super().__init__(
            f"the payload of a job of {quoted(definition)} does not decrypt.",
            reason=f"It was changed since it was encrypted with the key {key_id}, or belongs to "
            "another tenant or definition.",
            hint="Find out who wrote to the database; enqueue the job again.",
        )
