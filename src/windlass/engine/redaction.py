"""The redactor of an installation: built-in secret names and patterns, plus those in its settings."""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from windlass.core.payloads.redact import SECRET_NAMES, Redactor, is_long
from windlass.settings import Settings

_T = TypeVar("_T")


def create_redactor(settings: Settings) -> Redactor:
    also = settings.redaction
    return _redactor((*SECRET_NAMES, *also.names), also.patterns)


async def run_in_thread_if_long(work: Callable[[], _T], *values: object) -> _T:
    """Call `work`, in a thread if its `values` are long: that would block the event loop."""
    return await asyncio.to_thread(work) if is_long(*values) else work()


@lru_cache(maxsize=16)
def _redactor(names: tuple[str, ...], patterns: tuple[str, ...]) -> Redactor:
    return Redactor(names=names, patterns=patterns)
