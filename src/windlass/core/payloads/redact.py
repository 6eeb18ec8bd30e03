"""Redactor: replaces secrets on every way out.

A value is secret if the payload schema marks it (`writeOnly`, `format: password`), if the name it
stands under says so, or if it looks like a credential. All patterns run in linear time. Where in
doubt the redactor hides too much rather than too little.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from windlass.core.payloads.known_secrets import NO_SECRETS, KnownSecrets
from windlass.core.payloads.schema_marks import (
    Schemas,
    applicable_schemas,
    is_marked_secret,
    subschemas_at,
)
from windlass.core.payloads.secret_patterns import (
    CREDENTIALS,
    MASK,
    MAYBE_CREDENTIAL,
    Assignments,
    TextRule,
    wildcard_rule,
)

#: Words that make a key secret, whatever its case, dashes and underscores.
SECRET_NAMES = (
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "api_key",
    "access_key",
    "private_key",
    "authorization",
    "credential",
    "cookie",
)


@dataclass(frozen=True, slots=True)
class Redactor:
    """Hides secrets in values and in text.

    `names` are words that make a key secret, as a part of it too. `patterns` are texts that are
    secret wherever they stand; one `*` in each stands for any run of characters without spaces and
    quotes, so that `acme_live_*` hides every such key.
    """

    names: tuple[str, ...] = SECRET_NAMES
    patterns: tuple[str, ...] = ()
    _words: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _assignments: Assignments = field(init=False, repr=False, compare=False)
    _rules: tuple[TextRule, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        words = tuple(filter(None, map(_normal, self.names)))
        given = map(wildcard_rule, filter(None, self.patterns))
        # Frozen, so that sharing one is safe; these three only spare work.
        object.__setattr__(self, "_words", words)
        object.__setattr__(self, "_assignments", Assignments(words))
        object.__setattr__(self, "_rules", tuple(given))

    def redact_value(
        self,
        value: object,
        schema: Mapping[str, Any] | None = None,
        secrets: KnownSecrets = NO_SECRETS,
    ) -> Any:
        """A copy of a JSON value with `•••` in place of every secret, those given included.

        Under a secret name, truth values and null stay: they show whether a secret is set, not
        its value.
        """
        if not schema:
            return self._redacted(value, (), {}, secrets)
        return self._redacted(value, applicable_schemas([schema], schema), schema, secrets)

    def redact_text(self, text: str, secrets: KnownSecrets | Iterable[str] = NO_SECRETS) -> str:
        """`text` with `•••` in place of credentials, and of the given secrets of its job."""
        if secrets is not NO_SECRETS:
            text = _known(secrets).hide(text)
        if MAYBE_CREDENTIAL.search(text):
            for rule in CREDENTIALS:
                text = rule.hide(text)
        if self._mentions_secret(text):
            text = self._assignments.hide(text)
        for rule in self._rules:
            text = rule.hide(text)
        return text

    def redact_part(self, text: str, limit: int, secrets: KnownSecrets = NO_SECRETS) -> str:
        """The same for text of which only so many bytes are kept: of a longer one only the
        beginning and the end are searched. What may be half of a secret is cut off there."""
        if len(text) <= limit + 2 * _MARGIN:
            return self.redact_text(text, secrets)
        kept = limit // 2 + _MARGIN
        head = self.redact_text(text[:kept], secrets)[:-_MARGIN]
        tail = self.redact_text(text[-kept:], secrets)[_MARGIN:]
        left_out = len(text) - len(head) - len(tail)
        return f"{head}… {left_out:,} characters left out …{tail}"

    def secrets_in(self, value: object, schema: Mapping[str, Any] | None = None) -> frozenset[str]:
        """The secret texts in a JSON value: what `redact_text` has to hide in its job's output."""
        return frozenset(_hidden(value, self.redact_value(value, schema)))

    def is_secret_name(self, name: str) -> bool:
        """True if values of this name are hidden."""
        normal = _normal(name)
        return any(word in normal for word in self._words)

    def _mentions_secret(self, text: str) -> bool:
        # Twenty times cheaper than the pattern it spares most lines.
        bare = text.lower().replace("-", "").replace("_", "")
        return any(word in bare for word in self._words)

    def _redacted(
        self, value: object, schemas: Schemas, root: Mapping[str, Any], secrets: KnownSecrets
    ) -> Any:
        if schemas and is_marked_secret(schemas):
            return None if value is None else MASK
        if isinstance(value, str):
            return self.redact_text(value, secrets)
        if isinstance(value, Mapping):
            return {
                key: MASK
                if self._hides(key, part)
                else self._redacted(
                    part, schemas and subschemas_at(schemas, str(key), root), root, secrets
                )
                for key, part in value.items()
            }
        if isinstance(value, list | tuple):
            return [
                self._redacted(part, schemas and subschemas_at(schemas, place, root), root, secrets)
                for place, part in enumerate(value)
            ]
        return value

    def _hides(self, key: object, value: object) -> bool:
        return not (value is None or isinstance(value, bool)) and self.is_secret_name(str(key))


def redact_value(value: object, schema: Mapping[str, Any] | None = None) -> Any:
    """`Redactor.redact_value` with the names and patterns that are always known."""
    return default_redactor().redact_value(value, schema)


def redact_text(text: str, secrets: KnownSecrets | Iterable[str] = NO_SECRETS) -> str:
    """`Redactor.redact_text` with the names and patterns that are always known."""
    return default_redactor().redact_text(text, secrets)


def is_long(*values: object) -> bool:
    """True if redacting these values takes so long that nothing else should wait for it."""
    left, size = list(values), 0
    while left:
        value = left.pop()
        size += len(value) if isinstance(value, str) else 8
        if size > _LONG:
            return True
        if isinstance(value, Mapping):
            left += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple):
            left += value
    return False


#: Characters. No longer secret is expected to stand where a text is cut.
_MARGIN = 4 * 1024
#: Characters. Less is redacted in about a millisecond.
_LONG = 16 * 1024


@cache
def default_redactor() -> Redactor:
    """The redactor where no settings are at hand."""
    return Redactor()


def _known(secrets: KnownSecrets | Iterable[str]) -> KnownSecrets:
    return secrets if isinstance(secrets, KnownSecrets) else KnownSecrets(secrets)


def _normal(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def _hidden(value: object, shown: object) -> Iterable[str]:
    if shown == MASK:
        yield from _texts(value)
    elif isinstance(value, Mapping) and isinstance(shown, Mapping):
        for key, part in value.items():
            yield from _hidden(part, shown[key])
    elif isinstance(value, list | tuple) and isinstance(shown, list):
        for part, shown_part in zip(value, shown, strict=True):
            yield from _hidden(part, shown_part)


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
