import time
import pytest

@pytest.mark.parametrize("n", range(10))
async def test_many_start(journey, n):
    t=time.monotonic()
    await journey.workers(3)
    print(round(time.monotonic()-t,2))
