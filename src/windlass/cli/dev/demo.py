"""A small shop with constant background jobs: they succeed, fail and retry, report progress, run
long, wait for each other and for a free slot, follow schedules and events.

`windlass dev --demo` shows it. It is written as a program of yours would be.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator

from windlass import Backoff, JobContext, Permanent, Windlass, cron, every
from windlass.errors import TenantExists

wl = Windlass()

TENANTS = {"acme": 2, "globex": 1, "initech": 1}  # tenant -> share of the workers
NAMES = ["Ada", "Grace", "Linus", "Barbara", "Edsger", "Hedy"]


@wl.job
def hello(name: str) -> str:
    """The first job everybody writes."""
    return f"Hello, {name}!"


@wl.job(
    "mail.receipt", queue="mail", max_attempts=4, backoff=Backoff(kind="fixed", base=2, jitter=1)
)
async def send_receipt(ctx: JobContext, order: int) -> str:
    """An unreliable mail server: two attempts in five fail and are retried."""
    await asyncio.sleep(random.uniform(0.1, 0.5))
    if random.random() < 0.4:
        raise ConnectionError("421 mail.example: too many connections, try again later")
    ctx.log.info("sent", order=order, try_number=ctx.job.attempt)
    return f"receipt-{order}.pdf"


@wl.job("payment.charge", queue="payments", priority="high")
def charge(order: int, card: str, token: str) -> dict[str, object]:
    """A permanent failure: no retry, the job goes to the dead letter."""
    time.sleep(0.2)
    if card == "declined":
        raise Permanent("the bank declined the card")
    return {"order": order, "paid": True}


@wl.job("images.resize", queue="media", timeout="2m")
def resize(ctx: JobContext, album: str, count: int) -> int:
    """Long work that reports progress, and stops between two images when it is canceled."""
    for number in ctx.track(range(count), note=album):
        time.sleep(0.25)
        if number and number % 12 == 0:
            ctx.log.info("resized", album=album, images=number)
    return count


@wl.job("report.build", queue="reports", max_concurrency=1)
async def build_report(ctx: JobContext, month: str) -> str:
    """One job at a time across all workers: the others wait."""
    for part, step in enumerate(["reading", "adding up", "drawing", "printing"]):
        ctx.progress(part / 4, step)
        await asyncio.sleep(0.8)
    return f"report-{month}.pdf"


@wl.job("primes.count", isolation="process", max_attempts=2)
def count_primes(below: int) -> int:
    """Heavy arithmetic in a separate process, so that it slows no other job."""
    return sum(all(n % d for d in range(2, int(n**0.5) + 1)) for n in range(2, below))


@wl.job("order.extract", queue="orders")
async def extract(order: int) -> int:
    """The first of three steps."""
    await asyncio.sleep(random.uniform(0.3, 1.0))
    return order


@wl.job("order.clean", queue="orders")
async def clean(order: int) -> int:
    """The second, in parallel with the first."""
    await asyncio.sleep(random.uniform(0.3, 1.5))
    return order


@wl.job("order.publish", queue="orders", priority="high")
async def publish(ctx: JobContext, order: int) -> str:
    """The last: it starts when both others have completed."""
    ctx.log.info("both steps are done", order=order)
    return f"https://shop.example/orders/{order}"


@wl.on("order.paid", payload={"order": "{{event.order}}"})
@wl.job("order.pack", queue="orders")
async def pack(ctx: JobContext, order: int) -> str:
    """Created by an event: the job that takes the money need not know about packing."""
    await asyncio.sleep(random.uniform(0.2, 0.8))
    ctx.log.info("packed", order=order)
    return f"parcel-{order}"


@wl.job("stock.count", queue="reports", schedule=every("20s"), overlap="skip")
async def count_stock(ctx: JobContext) -> int:
    """Runs on a schedule: every twenty seconds."""
    ctx.log.info("counting", shelves=12)
    await asyncio.sleep(1.0)
    return random.randrange(200, 400)


@wl.job("books.close", queue="reports", schedule=cron("0 2 * * 1-5", tz="Europe/Berlin"))
async def close_books() -> str:
    """Runs on a schedule: on working days at two, Berlin time."""
    return "closed"


@wl.lifespan
@contextlib.asynccontextmanager
async def customers() -> AsyncIterator[None]:
    """Simulate customers for as long as the worker runs."""
    for tenant, weight in TENANTS.items():
        with contextlib.suppress(TenantExists):  # from an earlier demo on the same file
            await wl.tenants.create(tenant, weight=weight)
    coming = asyncio.create_task(_come())
    try:
        yield
    finally:
        coming.cancel()


async def _come() -> None:
    while True:
        await _order(random.randrange(1000, 10_000), random.choice(list(TENANTS)))
        await asyncio.sleep(random.uniform(1.0, 3.0))


async def _order(order: int, tenant: str) -> None:
    """Enqueue the jobs and emit the events of one order; not every order has all of them."""
    match random.randrange(10):
        case 0 | 1:
            card = random.choice(["visa", "visa", "visa", "declined"])
            await charge.options(tenant=tenant).enqueue(order=order, card=card, token="tok_1234")
            await send_receipt.options(tenant=tenant, delay="1s").enqueue(order=order)
        case 2 | 3:
            steps = [
                await extract.options(tenant=tenant).enqueue(order=order),
                await clean.options(tenant=tenant).enqueue(order=order),
            ]
            await publish.options(tenant=tenant, after=steps).enqueue(order=order)
        case 4:
            await resize.options(tenant=tenant).enqueue(album=f"album-{order}", count=30)
        case 5:
            for month in ("january", "february"):
                await build_report.options(tenant=tenant).enqueue(month=month)
        case 6:
            await count_primes.enqueue(below=20_000)
        case 7:
            await wl.emit("order.paid", {"order": order})
        case 8:
            await hello.options(tenant=tenant, delay="10m").enqueue(name=random.choice(NAMES))
        case _:
            await hello.enqueue(name=random.choice(NAMES))
