"""Windlass for blocking programs: `from windlass.sync import Windlass`."""

from windlass.app.receipts import BlockingReceipt as Receipt
from windlass.app.sync import Windlass

__all__ = ["Receipt", "Windlass"]
