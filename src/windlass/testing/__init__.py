"""For people who test their own code: a throw-away database, and a time that waits for you.

One line in `conftest.py` makes the fixture. It belongs to one app, and takes its name from the
variable:

    import windlass.testing
    from shop.jobs import wl

    wl_test = windlass.testing.fixture(wl)

While a test has it, everything the app does goes to a SQLite file of that test alone, whatever
the app's own URL says. Nothing runs by itself:

    async def test_signup(wl_test):
        await sign_up("ada@example.com")

        await wl_test.assert_enqueued(send_receipt, invoice_id=1)
        assert (await wl_test.run_all()).completed == 1

Time stands still too, until `travel` moves it or `run_all(through="1h")` lets it pass.

With a `windlass.sync.Windlass`, or `wl.blocking` of an awaited app, the fixture is for blocking
tests and nothing is awaited. Without pytest use `async with TestWindlass(wl) as wl_test:` or
`with BlockingTestWindlass(wl) as wl_test:`.
"""

from windlass.testing.blocking import BlockingTestWindlass
from windlass.testing.fixture import fixture
from windlass.testing.summary import Summary
from windlass.testing.windlass import TestWindlass

__all__ = ["BlockingTestWindlass", "Summary", "TestWindlass", "fixture"]
