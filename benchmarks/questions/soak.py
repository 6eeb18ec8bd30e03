"""The API with many clients and live pages, for minutes."""

from collections.abc import Sequence

from benchmarks.findings import Finding, alone
from benchmarks.stage import Stage

QUESTION = "How many requests does one server answer, and does it grow?"
SECONDS, CLIENTS, STREAMS = 180, 50, 20
MEASURES = [
    ("requests", "per_second", "1/s"),
    ("enqueue, p50", "enqueue_p50_ms", "ms"),
    ("enqueue, p99", "enqueue_p99_ms", "ms"),
    ("get, p50", "get_p50_ms", "ms"),
    ("get, p99", "get_p99_ms", "ms"),
    ("list of 50, p50", "list_p50_ms", "ms"),
    ("list of 50, p99", "list_p99_ms", "ms"),
    ("errors", "errors", ""),
    ("messages to streams", "messages", ""),
    ("memory of the server", "memory_mb", "MB"),
    ("its growth in the last minute", "growth_mb", "MB"),
]


def ask(stage: Stage) -> Sequence[Finding]:
    url = stage.migrated()
    clients, streams = (4, 2) if stage.toy else (CLIENTS, STREAMS)
    # Once, and long: what is asked is whether it stays as it is.
    figures = [stage.server("soak", url, stage.seconds(SECONDS), clients, streams)]
    return [
        alone(f"API, {CLIENTS} clients and {STREAMS} streams: {text}", figures, name, unit)
        for text, name, unit in MEASURES
    ]
