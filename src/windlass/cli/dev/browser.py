"""Opens pages in the browser of whoever started us."""

import asyncio
import sys

# In a process of its own: some browsers stay until they are closed, and some talk.
_PROGRAM = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


async def browse(url: str) -> bool:
    """Open an address; BROWSER may name the program. False if no browser could be started."""
    nowhere = asyncio.subprocess.DEVNULL
    opening = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _PROGRAM, url, stdin=nowhere, stdout=nowhere, stderr=nowhere
    )
    return await opening.wait() == 0
