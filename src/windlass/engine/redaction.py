"""The redactor an installation asked for: what is always secret, and what its settings add."""

from functools import lru_cache

from windlass.core.redact import SECRET_NAMES, Redactor
from windlass.settings import Settings


def redactor_of(settings: Settings) -> Redactor:
    also = settings.redaction
    return _redactor((*SECRET_NAMES, *also.names), also.patterns)


@lru_cache(maxsize=16)
def _redactor(names: tuple[str, ...], patterns: tuple[str, ...]) -> Redactor:
    return Redactor(names=names, patterns=patterns)
