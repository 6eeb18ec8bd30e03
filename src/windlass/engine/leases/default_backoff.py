"""The backoff an installation asked for, where a definition says nothing of its own."""

from windlass.core.definitions.backoff import Backoff
from windlass.settings import Settings


def default_backoff(settings: Settings) -> Backoff:
    said = settings.backoff
    return Backoff(
        kind=said.kind,
        base=said.base_seconds,
        factor=said.factor,
        cap=said.cap_seconds,
        jitter=said.jitter_seconds,
        delays=said.delays_seconds,
    )
