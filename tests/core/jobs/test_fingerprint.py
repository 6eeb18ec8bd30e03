"""Failures of one cause get one fingerprint, others another."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.function_calls import counted_calls
from windlass.core.jobs.fingerprint import fingerprint

TRACE = """Traceback (most recent call last):
  File "/srv/releases/{release}/worker.py", line {line}, in run
    handler()
  File "/srv/releases/{release}/jobs/sync.py", line {line}, in {function}
    raise KeyError(name)
KeyError: 'x'
"""


def key(error, trace=None, kind="ValueError"):
    return fingerprint(kind, error, trace).key


def sentence(error, trace=None, kind="ValueError"):
    return fingerprint(kind, error, trace).sentence


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ("no user 42", "no user 4711", "no user <number>"),
        ("took 3.5 s", "took -12 s", "took <number> s"),
        ("1,234,567 rows", "12 rows", "<number> rows"),
        ("timeout of 300s", "timeout of 5s", "timeout of <number>s"),
        (
            "job 70300615-f3b0-45f3-a4e8-7616b640a2b2 failed",
            "job f1a8c83c-8c5d-4544-9c45-5d0090836328 failed",
            "job <id> failed",
        ),
        ("commit 9fceb02d0ae5", "commit 3e25960a79dbc69b", "commit <id>"),
        ("no cus_N3fKjd82kd9f", "no cus_9sKd83jfKd0sL2", "no <id>"),
        ("at 0x7f3a2b10 in", "at 0x55d0 in", "at <address> in"),
        ("10.0.0.7:5432 refused", "192.168.1.20:5433 refused", "<address> refused"),
        ("[fe80::1]:80 refused", "[2001:db8::7]:443 refused", "<address> refused"),
        ("since 2026-03-01T12:00:00.5Z", "since 2025-12-31 23:59:59+01:00", "since <time>"),
        ("until 2026-03-01", "until 2026-04-30", "until <time>"),
        ("at 12:30:45", "at 1:00:00.123", "at <time>"),
        ("'ada' is unknown", "'bob o hara' is unknown", "<value> is unknown"),
        ('column "a" is null', 'column "b c" is null', "column <value> is null"),
        ("Key (name)=(Ada) exists", "Key (name)=(Bob) exists", "Key (name)=<value> exists"),
        ("got {'a': 1}", "got {'b': [2], 'c': 3}", "got <value>"),
        ("no /tmp/a1/x.pdf there", "no /var/lib/y/z.png there", "no <path> there"),
        ("in /app/x.py:12", "in /app/x.py:99:4", "in <path>"),
        (r"no C:\Users\ada\x.txt", r"no D:\y.txt", "no <path>"),
        ("to ada@example.com", "to b.c+d@mail.example.org", "to <email>"),
        (
            "404 for https://u:p@api.example.com/users/1?x=2",
            "404 for https://api.example.com/users/2",
            "<number> for https://api.example.com/…",
        ),
        (
            "1 validation error\nInput [type=int, input_value={'a': {'b': 1}}, input_type=dict]",
            "1 validation error\nInput [type=int, input_value='x', input_type=dict]",
            "<number> validation error Input [type=int, input_value=<value>, input_type=dict]",
        ),
        (
            "duplicate\n[SQL: insert into t]\n[parameters: (1, Ada)]",
            "duplicate\n[SQL: insert into t]\n[parameters: (2, Bob)]",
            "duplicate [SQL: insert into t]",
        ),
    ],
)
def test_values_in_an_error_do_not_change_the_fingerprint(one, other, told):
    assert sentence(one) == sentence(other) == f"ValueError: {told}"
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("connection refused", "connection reset"),
        ("exit code 64", "exit code 75"),
        ("HTTP 404", "HTTP 503"),
        ("status=404", "status=500"),
        ("[Errno 2] gone", "[Errno 13] gone"),
        ("for https://a.example.com/x", "for https://b.example.com/x"),
        ("can't open", "can't close, don't try"),
        ("std::bad_alloc", "std::length_error"),
    ],
)
def test_different_causes_have_different_fingerprints(one, other):
    assert key(one) != key(other)


def test_the_error_type_is_part_of_the_fingerprint():
    assert key("x", kind="KeyError") != key("x", kind="ValueError")


def test_the_raising_function_is_part_of_the_fingerprint_but_not_its_line():
    here = TRACE.format(release="20260301", line=12, function="load")
    moved = TRACE.format(release="20260402", line=99, function="load")
    elsewhere = TRACE.format(release="20260301", line=12, function="store")

    assert key("'x'", here) == key("'y'", moved)
    assert key("'x'", here) != key("'x'", elsewhere)
    assert sentence("'x'", here, "KeyError") == "KeyError: <value> in load (sync.py)"


def test_timeouts_have_one_fingerprint_wherever_they_hit():
    here = TRACE.format(release="1", line=12, function="load")
    there = TRACE.format(release="1", line=50, function="store")

    error = "Job exceeded timeout of 300s"
    assert key(error, here, "TimedOut") == key(error, there, "TimedOut")


def test_lost_workers_have_one_fingerprint():
    lost = "the worker was lost: {} did not renew its lease"

    assert key(lost.format("alder"), kind="WorkerLost") == key(lost.format("b"), kind="WorkerLost")


def test_fingerprints_are_stable():
    # Stored with jobs: a change here splits every group.
    assert fingerprint("ValueError", "no user 42", None) == (
        "d87833b40f9193ef",
        "ValueError: no user <number>",
    )


def test_a_failure_without_error_text_has_a_fingerprint():
    assert fingerprint(None, None, None) == fingerprint("", " \n", "")
    assert fingerprint(None, None, None).sentence == "no error was reported"


def test_a_summary_is_short_and_on_one_line():
    summary = sentence("a long story\n" * 500, TRACE.format(release=1, line=1, function="f"))

    assert len(summary) <= 300
    assert "\n" not in summary
    assert summary.endswith(" in f (sync.py)")


@pytest.mark.parametrize(
    "piece",
    ["a", "1", "'", '"', "{", "(", "=(", "a@", "a.", "1.", "1:", "/a", "://", "a://b", "0x", "[:",
     "input_value=", "1-", "<", "\\", 'File "', '  File "a", line 1, in x\n', "é", "\n", "code ",
     "f" * 8 + "-", "2026-03-01T", " ", "\ud800"],
)  # fmt: skip
def test_hostile_text_is_cheap(piece):
    text = piece * (200_000 // len(piece))

    with counted_calls() as calls:
        fingerprint(text, text, text)

    assert calls.count < len(text)


@given(st.text() | st.none(), st.text() | st.none(), st.text() | st.none())
def test_any_failure_has_a_fingerprint(kind, error, trace):
    found = fingerprint(kind, error, trace)

    assert re.fullmatch(r"[0-9a-f]{16}", found.key)
    assert 0 < len(found.sentence) <= 300
    assert "\n" not in found.sentence
    found.sentence.encode()


@given(
    st.lists(st.sampled_from(["cannot", "load", "user", "for", "order:", "{}", "'{}'", "x={}"])),
    st.lists(st.integers(0, 10**30), min_size=8, max_size=8),
    st.lists(st.integers(0, 10**30), min_size=8, max_size=8),
)
def test_numbers_do_not_change_the_fingerprint(words, some, others):
    pattern = " ".join(words[:8])

    assert key(pattern.format(*some)) == key(pattern.format(*others))
