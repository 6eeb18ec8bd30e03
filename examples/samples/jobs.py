"""Sample jobs in three states: completed, dead-lettered, waiting for the next attempt."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from windlass import Backoff, JobContext, Permanent, Settings, Windlass
from windlass.errors import DefinitionExists
from windlass.samples import SAMPLE_JOB

# A definition that only the database knows may name handlers in there, and nowhere else.
wl = Windlass(settings=Settings.load({"worker.handler_paths": ["windlass.samples"]}))


@wl.lifespan
@asynccontextmanager
async def sample_job() -> AsyncIterator[None]:
    """`sample_job` is declared by no code here: its row names the function that runs it."""
    with suppress(DefinitionExists):
        await wl.definitions.create("sample_job", **SAMPLE_JOB)
    yield


@wl.job(title="PDF generation")
def pdf_generation(ctx: JobContext, document: str, pages: int = 3) -> dict[str, str | int]:
    """Goes well, telling how far it is. The result names the file that a real one would write."""
    for _ in ctx.track(range(pages), note="page"):
        time.sleep(0.1)
    file = f"{document}.pdf"
    ctx.progress(1.0, f"{pages} pages in {file}")
    return {"file": file, "pages": pages}


@wl.job(title="Fax", max_attempts=6)
def fax_send(number: str, file: str) -> str:
    """A number that is none will not be one at the next try: there is no next one."""
    if not re.fullmatch(r"\+[1-9]\d{6,14}", number):
        raise Permanent(f"invalid fax number: {number}")
    return f"{file} sent to {number}"


@wl.job(title="OCR", max_attempts=6, backoff=Backoff(kind="list", delays=(2, 600, 1800), jitter=0))
async def ocr_processing(scan: str, service: str, patience_seconds: float = 0.5) -> str:
    """A service that does not answer now may answer later: six tries, further and further apart."""
    host, _, port = service.rpartition(":")
    try:
        async with asyncio.timeout(patience_seconds):
            reader, writer = await asyncio.open_connection(host, int(port))
            try:
                writer.write(f"{scan}\n".encode())
                return (await reader.readline()).decode()
            finally:
                writer.close()
    except TimeoutError:
        raise ConnectionError(f"connection to {service} timed out") from None
