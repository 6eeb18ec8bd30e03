"""A small shop with constant background jobs: they succeed, fail and retry, report progress, run
long, wait for each other, for a free slot and for a paused queue, follow schedules and events.

`windlass dev --demo` shows it. It is written as a program of yours would be.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator

from windlass import Backoff, JobContext, Permanent, Settings, Windlass, cron, every
from windlass.errors import TenantExists

# One job runs for a quarter of an hour: at a stop it is handed back instead.
wl = Windlass(settings=Settings.load({"worker.shutdown_timeout_seconds": 3}))

TENANTS = {"acme": 2, "globex": 1, "initech": 1}  # tenant -> share of the workers
ORDERS_OF = {"acme": 6, "globex": 3, "initech": 1}  # tenant -> share of the orders
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


@wl.job("page.render", queue="pages", retention_count=5_000)
async def render_page(path: str) -> int:
    """Short work all the time: the steady part of the throughput."""
    await asyncio.sleep(random.uniform(0.02, 0.2))
    return random.randrange(2_000, 90_000)


@wl.job("payment.charge", queue="payments", priority="high")
def charge(ctx: JobContext, order: int, card: str, token: str) -> dict[str, object]:
    """Permanent failures: no retry, the job goes to the dead letter, where causes are groups."""
    time.sleep(0.2)
    if card == "declined":
        raise Permanent("the bank declined the card")
    if card == "expired":
        ctx.log.warning("the card has expired", order=order)
        raise Permanent("the card has expired")
    return {"order": order, "paid": True}


@wl.job("stock.import", queue="imports", max_attempts=2, backoff=Backoff(kind="fixed", base=5))
def import_stock(ctx: JobContext, supplier: str, rows: int) -> int:
    """A supplier's file with mistakes: some are found by the second attempt again."""
    ctx.log.debug("opened", supplier=supplier)
    for row in ctx.track(range(rows), note=supplier):
        time.sleep(0.02)
        if supplier == "northwind" and row == rows - 1:
            ctx.log.error("no price", supplier=supplier, row=row)
            raise ValueError("a row has no price")
    return rows


@wl.job("catalog.reindex", queue="search", timeout="1h", max_attempts=5)
async def reindex_catalog(ctx: JobContext, articles: int) -> int:
    """A quarter of an hour of work, with a bar to watch and a log to read meanwhile."""
    for done in range(articles):
        await asyncio.sleep(0.3)
        ctx.progress(done / articles, f"article {done:,} of {articles:,}")
        if done % 50 == 0:
            ctx.log.info("indexed", articles=done)
        if done % 170 == 169:
            ctx.log.warning("an article has no picture", article=done)
    return articles


@wl.job("mail.newsletter", queue="newsletter", priority="low")
async def send_newsletter(letter: int, to: str) -> None:
    """Waits: its queue is paused until you resume it."""
    await asyncio.sleep(0.3)


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
    """The first of four steps: two follow it, and both come before the last."""
    await asyncio.sleep(random.uniform(0.3, 1.0))
    return order


@wl.job("order.clean", queue="orders")
async def clean(order: int) -> int:
    """The second, once the first has completed."""
    await asyncio.sleep(random.uniform(0.3, 1.5))
    return order


@wl.job("order.price", queue="orders")
async def price(order: int) -> float:
    """The third, beside the second."""
    await asyncio.sleep(random.uniform(0.3, 1.0))
    return order / 100


@wl.job("order.publish", queue="orders", priority="high")
async def publish(ctx: JobContext, order: int) -> str:
    """The last: it starts when both before it have completed."""
    ctx.log.info("all steps are done", order=order)
    return f"https://shop.example/orders/{order}"


@wl.job(
    "tax.export", queue="reports", max_attempts=2, backoff=Backoff(kind="fixed", base=2, jitter=0)
)
def export_taxes(order: int, year: str) -> None:
    """Fails for good since the last release, for one of two causes."""
    time.sleep(0.1)
    if year == "2024":
        raise Permanent("the year 2024 is closed")
    raise KeyError("vat_rate")


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


@wl.job("mail.digest", queue="mail", schedule=cron("* * * * *"))
async def send_digest(ctx: JobContext) -> str:
    """Runs on a schedule: every minute."""
    await asyncio.sleep(random.uniform(0.5, 2.0))
    ctx.log.info("sent", letters=len(NAMES))
    return "sent"


@wl.job("books.close", queue="reports", schedule=cron("0 2 * * 1-5", tz="Europe/Berlin"))
async def close_books() -> str:
    """Runs on a schedule: on working days at two, Berlin time."""
    return "closed"


@wl.lifespan
@contextlib.asynccontextmanager
async def customers() -> AsyncIterator[None]:
    """Simulate customers for as long as the worker runs."""
    try:
        for tenant, weight in TENANTS.items():
            await wl.tenants.create(tenant, weight=weight)
    except TenantExists:
        pass  # an earlier demo on the same file; its queue is as somebody left it
    else:
        await wl.queues.pause("newsletter", reason="the editor has not approved the text yet")
    coming = [asyncio.create_task(come()) for come in (_order_often, _visit_always, _work_long)]
    try:
        yield
    finally:
        for each in coming:
            each.cancel()


def _some_tenant() -> str:
    [tenant] = random.choices(list(ORDERS_OF), weights=[*ORDERS_OF.values()])
    return tenant


async def _visit_always() -> None:
    while True:
        page = render_page.options(tenant=_some_tenant())
        await page.enqueue(path=f"/articles/{random.randrange(500)}")
        await asyncio.sleep(random.uniform(0.3, 0.7))


async def _work_long() -> None:
    """Always one long job and a few letters that wait, not more with every start."""
    while True:
        long = reindex_catalog.options(tenant="acme", dedupe_key="catalog")
        await long.enqueue(articles=3_000)
        for number, name in enumerate(NAMES):
            letter = send_newsletter.options(tenant="globex", dedupe_key=f"letter {number}")
            await letter.enqueue(letter=number, to=f"{name.lower()}@shop.example")
        await asyncio.sleep(60)


async def _order_often() -> None:
    while True:
        await _order(random.randrange(1000, 10_000), _some_tenant())
        await asyncio.sleep(random.uniform(1.0, 3.0))


async def _order(order: int, tenant: str) -> None:
    """Enqueue the jobs and emit the events of one order; not every order has all of them."""
    match random.randrange(11):
        case 0 | 1:
            card = random.choice(["visa"] * 6 + ["declined", "expired"])
            await charge.options(tenant=tenant).enqueue(order=order, card=card, token="tok_1234")
            await send_receipt.options(tenant=tenant, delay="1s").enqueue(order=order)
        case 2 | 3:
            first = await extract.options(tenant=tenant).enqueue(order=order)
            steps = [
                await clean.options(tenant=tenant, after=[first]).enqueue(order=order),
                await price.options(tenant=tenant, after=[first]).enqueue(order=order),
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
            # In the tenant of the triggers that code declares; nothing listens to the other one.
            await wl.emit("order.paid", {"order": order})
            await wl.emit("order.seen", {"order": order}, tenant=tenant)
        case 8:
            year = random.choice(["2024", "2025", "2025"])
            await export_taxes.options(tenant=tenant).enqueue(order=order, year=year)
            await hello.options(tenant=tenant, delay="10m").enqueue(name=random.choice(NAMES))
        case 9:
            supplier = random.choice(["contoso", "contoso", "northwind"])
            await import_stock.options(tenant=tenant).enqueue(supplier=supplier, rows=50)
        case _:
            await hello.enqueue(name=random.choice(NAMES))
