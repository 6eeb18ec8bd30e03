"""Huey on SQLite with full sync: `huey_side.py VERB URL …` prints its figures as JSON."""

import json
import sys
import threading
import time

from huey import SqliteHuey

TEXT = "x" * 80


def app(url: str) -> SqliteHuey:
    # As we do: every commit is on the disk. Results of None are not stored.
    return SqliteHuey(filename=url.removeprefix("sqlite:///"), fsync=True, results=False)


def fill(url: str, jobs: str) -> dict[str, float]:
    peer = app(url)

    @peer.task()
    def noop(text: str) -> None: ...

    began = time.perf_counter()
    for _n in range(int(jobs)):
        noop(TEXT)
    return {"per_second": int(jobs) / (time.perf_counter() - began)}


def drain(url: str, jobs: str, workers: str = "1") -> dict[str, float]:
    peer = app(url)
    count, ran, done = int(jobs), 0, threading.Event()

    @peer.task()
    def noop(text: str) -> None:
        nonlocal ran
        ran += 1
        if ran == count:
            done.set()

    consumer = peer.create_consumer(
        workers=int(workers), periodic=False, initial_delay=0.001, max_delay=0.01
    )
    cpu, began = time.process_time(), time.perf_counter()
    consumer.start()
    done.wait()
    seconds = time.perf_counter() - began
    used = time.process_time() - cpu
    consumer.stop(graceful=True)
    return {"per_second": count / seconds, "cpu_us": used / count * 1e6}


def main() -> None:
    verb, url, *rest = sys.argv[1:]
    print(json.dumps({"fill": fill, "drain": drain}[verb](url, *rest)), flush=True)


if __name__ == "__main__":
    main()
