"""Text of the page around its tables."""

INTRODUCTION = """
# Performance

<!-- Written by `make bench`; change benchmarks/words.py instead. -->

Two things are asked of a queue in a database: that it is fast enough, and that it stays so when
history, backlog and forgotten transactions pile up. This page answers both with **ratios**: both
sides run in turn, several times, on one machine, so that they share its good and bad moments.
Absolute figures are those of a small machine that holds database, producer and worker together;
they say little about yours.
"""

NOT_ASKED = """
Not asked yet, because the feature is not there: a paused queue ahead and limits by key (P9), commands
and process-isolated jobs against bare ones (P19).
"""

HOW = """
## How it was measured

Jobs are no-ops with about 100 bytes of payload. Windlass runs with everything on: payloads validated,
tenants with fair shares, leases with tokens, timeouts, context, attempts and history with payload.
Its sides use the event loop that `windlass worker` uses.

Every commit is durable: PostgreSQL with `fsync`, `synchronous_commit` and `full_page_writes` on and
128 MB of shared buffers, MariaDB flushing its log at each commit with a buffer pool of 256 MB, SQLite
with `synchronous = full` on both sides. Other settings are the servers' own.

| system | settings, the best we found | what it keeps, and what not |
|---|---|---|
| Windlass | 500 slots | a row for each finished job with payload and outcome; a lease with a token for each run |
| PgQueuer | batches of 500 (its default of 10 is about a quarter as fast), uvloop, asyncpg, all tables logged | a log line for each change of a job's status, no payload; one line of jobs, no tenants |
| Graphile Worker | local queue of 500, completions gathered at once (`completeJobBatchDelay: 0`), 24 jobs at a time | nothing of finished jobs; jobs in the local queue are locked ahead of their run |
| Procrastinate | ten jobs at a time, LISTEN on, uvloop, psycopg | finished jobs and their events |
| Huey | SQLite with `fsync`, one worker thread, results off | nothing: a job leaves the file when it is taken, so one that was taken by a process that dies is gone |
| our statements | `claim.sql` and `finish.sql` by plain asyncpg, two connections, batches of 500 | as Windlass; *bare* counts, *real* also decodes, sets a context and a timer, guards and times |

- **Pick-up** is the time from before the enqueue to the handler's first line, in one process with an
  idle worker; the next job comes 20 ms after the last one.
- **Memory** is the proportional set size; **transactions** are those of the worker's database, counted
  by the server over runs of different length.
- **Write-ahead log** is counted from after the enqueue to after the last job's end.
- **A pinned snapshot** is a `repeatable read` transaction in the same database that stays open while
  200,000 jobs are enqueued and drained, and during the measurement.
- **Lists** are first pages of 50 jobs, searches of 100 log lines, asked through `wl.jobs.list`,
  `wl.jobs.summary`, `wl.stats` and `wl.logs.search`, in a history of a month with 50 tenants, 21
  definitions, 9 queues and 200,000 log lines; p95 of 40 in each round.
- **Recovery** (R1 to R3) is at default settings, with workers and enqueuers as processes: a worker gets
  SIGKILL while it runs a job; a server is away for ten seconds under load; every connection of a worker
  falls silent without a word. 41 seconds of R1 are the lease and the reaper's second look.
- **Piles** (3M waiting, 1M finished, 1M that cannot be claimed) are copies of an enqueued job, made by
  the database.
"""

REPEAT = """
## Repeat it

`make bench` asks everything and writes this page; let nothing else run meanwhile. `make bench
BENCH=drain` asks one question and renews its rows, `make bench BENCH='pinned growth'` two. Private servers are started and removed, peers are installed into a folder of their
own (`WINDLASS_BENCH_PEERS`, by default `~/.cache/windlass-bench`). Graphile Worker needs npm; without
it its rows are left out, and the page says so. A run writes the figures of each question as
JSON to `benchmarks/results/`, which the repository does not keep.
"""
