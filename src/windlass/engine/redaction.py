"""The redactor an installation asked for: what is always secret, and what its settings add."""

from windlass.core.redact import SECRET_NAMES, Redactor
from windlass.settings import Settings


def redactor_of(settings: Settings) -> Redactor:
    also = settings.redaction
    return Redactor(names=(*SECRET_NAMES, *also.names), patterns=also.patterns)
