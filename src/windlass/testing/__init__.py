"""Test support for applications: a temporary database, and a clock that the test moves.

One line in `conftest.py` creates the fixture. It belongs to one app, and is named after the
variable:

    import windlass.testing
    from shop.jobs import wl

    wl_test = windlass.testing.fixture(wl)

While a test uses it, the app works on a SQLite file of that test, whatever its own URL is. Jobs run
only when the test says so:

    async def test_signup(wl_test):
        await sign_up("ada@example.com")

        await wl_test.assert_enqueued(send_receipt, invoice_id=1)
        assert (await wl_test.run_all()).completed == 1

Time stands still until `travel` or `run_all(through="1h")` moves it.

With a `windlass.sync.Windlass`, or `wl.blocking` of an async app, the fixture is for blocking
tests and nothing is awaited. Without pytest use `async with TestWindlass(wl) as wl_test:` or
`with BlockingTestWindlass(wl) as wl_test:`.
"""

from windlass.testing.blocking import BlockingTestWindlass
from windlass.testing.pytest_fixture import fixture
from windlass.testing.summary import Summary
from windlass.testing.windlass import TestWindlass

__all__ = ["BlockingTestWindlass", "Summary", "TestWindlass", "fixture"]
