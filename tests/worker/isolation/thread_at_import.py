"""A handler whose module starts a thread at import, so that nothing may be forked from it."""

import os
import threading

from windlass import Settings, Windlass

threaded = Windlass("sqlite:///never-opened.db", settings=Settings())

IMPORTED_BY = os.getpid()
_lock = threading.Lock()
_forever = threading.Event()


def _hold() -> None:
    with _lock:
        _ready.set()
        _forever.wait()


_ready = threading.Event()
threading.Thread(target=_hold, daemon=True).start()
_ready.wait()


@threaded.job("threaded", isolation="process")
def ask() -> list[int]:
    alive = threading.active_count()
    return [os.getpid(), IMPORTED_BY, alive]
