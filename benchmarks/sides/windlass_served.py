"""The definitions of the soak test's server."""

from windlass import Windlass

wl = Windlass()


@wl.job("noop", timeout="60s")
async def noop(text: str) -> None: ...
