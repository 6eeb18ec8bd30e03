"""The jobs of the installation that a browser looks at; `tests/ui/installation.py` makes them run."""

import time
from pathlib import Path

from windlass import JobContext, Permanent, Windlass, cron

wl = Windlass()


@wl.job
def hello(name: str, times: int = 1) -> str:
    """Say hello."""
    return f"Hello, {name}!" * times


@wl.job("payment.charge", queue="payments")
def charge(order: int, why: str) -> None:
    """Fails for good, for the cause that it is given."""
    raise Permanent(why)


@wl.job("rows.import", queue="imports")
def import_rows(ctx: JobContext, file: str) -> int:
    """Runs, with some progress, until the file is there."""
    ctx.progress(0.4, "row 400 of 1000")
    ctx.log.info("reading", file=file)
    ctx.log.warning("a row has no name", row=17)
    while not Path(file).exists():
        ctx.checkpoint()
        time.sleep(0.05)
    return 1000


@wl.job("mail.letter", queue="letters")
def send_letter(to: str) -> None:
    """Waits: its queue is paused."""


@wl.on("order.paid", payload={"order": "{{event.order}}"})
@wl.job("order.pack", queue="orders")
def pack(order: int) -> str:
    """Created by an event."""
    return f"parcel-{order}"


@wl.job("books.close", schedule=cron("0 2 * * 1-5", tz="Europe/Berlin"))
def close_books() -> None:
    """Scheduled."""


@wl.job("film.encode", queue="films")
def encode(ctx: JobContext, folder: str) -> dict[str, str]:
    """Logs a line for each file that appears in a folder, until one is named `end`."""
    told: set[str] = set()
    ctx.log.info("\x1b[32mready\x1b[0m <script>document.title='hacked'</script> \u202egpj.exe")
    while "end" not in told:
        ctx.checkpoint()
        for file in sorted(Path(folder).iterdir()):
            if file.name not in told:
                told.add(file.name)
                ctx.progress(min(0.9, len(told) / 10), f"after {file.name}")
                ctx.log.info("saw a file", file=file.name)
        time.sleep(0.05)
    return {"film": "https://films.example/1"}


@wl.job("card.check", queue="cards", max_attempts=1)
def check_card(number: str, token: str = "") -> str:
    """Fails for good unless the number is one."""
    return str(int(number))


@wl.job("film.cut", queue="closed")
def cut(part: int = 0) -> None:
    """Never runs in a test: its definition is disabled, or its queue paused."""
