"""What the soak's server knows and runs."""

from windlass import Windlass

wl = Windlass()


@wl.job("noop", timeout="60s")
async def noop(text: str) -> None: ...
