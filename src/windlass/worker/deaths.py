"""How a handler's process died, in words."""

import signal
from typing import Any

from windlass.core.outcome import Failure

_NAMES = {number.value: number.name for number in signal.Signals}


def died(ended: dict[str, Any], *, limit_mb: int | None) -> Failure:
    """The failure of a run whose process ended without an answer, with what its keeper saw."""
    code: int = ended["code"]
    said = [f"signal {_NAMES.get(-code, -code)}" if code < 0 else f"exit code {code}"]
    if ended.get("out_of_memory"):
        said.append("sent by the system, which was out of memory")
    if "peak_mb" in ended:
        allowed = "" if limit_mb is None else f" of {limit_mb} MB allowed"
        said.append(f"peak memory {ended['peak_mb']} MB{allowed}")
    return Failure(
        error=f"the handler's process died: {', '.join(said)}",
        error_type="ProcessDied",
        pid=ended["pid"],
        exit_code=code,
    )
