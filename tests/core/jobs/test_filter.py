"""The filter grammar: strict, bounded, and round-tripping."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.function_calls import counted_calls
from windlass.core.jobs.filter import MOST_CHARACTERS, MOST_TERMS, MOST_VALUES, parse
from windlass.core.jobs.filter_fields import FIELDS
from windlass.core.jobs.query import FilterTerm, JobQuery, RelativeTime, TextPrefix
from windlass.errors import FilterInvalid
from windlass.ids import parse_job_id

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def term(text: str) -> FilterTerm:
    [only] = parse(text).terms
    return only


def refusal(text: str) -> FilterInvalid:
    with pytest.raises(FilterInvalid) as caught:
        parse(text)
    return caught.value


def test_the_documented_filter_is_read_term_by_term():
    query = parse(
        "state:dead_letter,retrying definition:mail.* queue:mail tenant:acme source:event worker:w-3 "
        'attempts:>3 created:>-2h duration:>30s error:"timed out" payload.user_id:7 tag:vip -queue:bulk'
    )

    assert query.terms == (
        FilterTerm("state", ("dead_letter", "retrying")),
        FilterTerm("definition", (TextPrefix("mail."),)),
        FilterTerm("queue", ("mail",)),
        FilterTerm("tenant", ("acme",)),
        FilterTerm("source", ("event",)),
        FilterTerm("worker", ("w-3",)),
        FilterTerm("attempts", (3,), ">"),
        FilterTerm("created", (RelativeTime(-2 * HOUR),), ">"),
        FilterTerm("duration", (timedelta(seconds=30),), ">"),
        FilterTerm("error", ("timed out",)),
        FilterTerm("payload", ("7",), path=("user_id",)),
        FilterTerm("tag", ("vip",)),
        FilterTerm("queue", ("bulk",), negated=True),
    )


def test_an_empty_filter_matches_all_jobs():
    assert parse("") == parse(" \t\n ") == JobQuery()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("timeout", FilterTerm("error", ("timeout",))),
        ('-"connection reset"', FilterTerm("error", ("connection reset",), negated=True)),
        ("refused,reset", FilterTerm("error", ("refused", "reset"))),
        ("12:30", FilterTerm("error", ("12:30",))),
        ("error:*", FilterTerm("error", (TextPrefix(""),))),
        ("-worker:*", FilterTerm("worker", (TextPrefix(""),), negated=True)),
        ('queue:"a b"*', FilterTerm("queue", (TextPrefix("a b"),))),
        ('queue:"a*"', FilterTerm("queue", ("a*",))),
        (r'queue:"say \"hi\" \\"', FilterTerm("queue", ('say "hi" \\',))),
        ("queue:a,b,a", FilterTerm("queue", ("a", "b"))),
        ("attempts:3", FilterTerm("attempts", (3,))),
        ("attempts:<=3", FilterTerm("attempts", (3,), "<=")),
        ("priority:>=high", FilterTerm("priority", (50,), ">=")),
        ("due:<+1.5h", FilterTerm("due", (RelativeTime(1.5 * HOUR),), "<")),
        ("created:>=2026-07-01", FilterTerm("created", (NOW - 12 * HOUR,), ">=")),
        ("created:>2026-07-01T14:00+02:00", FilterTerm("created", (NOW,), ">")),
        ("finished:<2026-07-01T12:00:00.000Z", FilterTerm("finished", (NOW,), "<")),
        ("payload.a.b-c:>1e3", FilterTerm("payload", (1000.0,), ">", path=("a", "b-c"))),
        ('payload.a:""', FilterTerm("payload", ("",), path=("a",))),
        ("payload.a:*", FilterTerm("payload", (TextPrefix(""),), path=("a",))),
        ("correlation:order:17", FilterTerm("correlation", ("order:17",))),
        (
            "id:01890a5dac96774bbcceb3028c1f42d7",
            FilterTerm("id", (parse_job_id("01890a5d-ac96-774b-bcce-b3028c1f42d7"),)),
        ),
    ],
)
def test_a_term_is_parsed_as_documented(text, read):
    assert term(text) == read


@pytest.mark.parametrize(
    ("text", "part", "at", "says"),
    [
        ("queue:a stat:x", "stat", 8, "Did you mean `state`?"),
        ("state:dead_leter", "dead_leter", 6, "Did you mean `dead_letter`?"),
        ("http://x", "http", 0, "quote it"),
        ("queue:", "", 6, "A value is missing"),
        ("queue:a,", "", 8, "A value is missing"),
        ("queue:a,,b", ",", 8, "A value is missing"),
        ("-", "", 1, "A value is missing"),
        ('queue:a"b"', "a", 6, "only around a whole value"),
        ('error:"never ends', '"', 6, "has no end"),
        ("queue:a*b", "a*b", 6, "only at the end"),
        ("error:time*", "time*", 6, "a part of the text"),
        ("error:>3", ">3", 6, "a part of the text"),
        ("attempts:many", "many", 9, "a whole number"),
        ("attempts:>3,4", ",", 11, "one value"),
        ("priority:99999", "99999", 9, "a whole number"),
        ("created:2026-07-01", "2026-07-01", 8, "behind >"),
        ("created:>2026-13-01", "2026-13-01", 9, "an instant"),
        ("created:>yesterday", "yesterday", 9, "an instant"),
        ("created:>-2x", "-2x", 9, "an instant"),
        ('created:>"-2h"', '"-2h"', 9, "an instant"),
        ("duration:30s", "30s", 9, "behind >"),
        ("payload:7", "payload", 0, "payload.user_id:7"),
        ("payload.items.0:7", "payload.items.0", 0, "begins with a digit"),
        ("queue.name:a", "queue.name", 0, "no fields in it"),
        ("id:8c1f42d7", "8c1f42d7", 3, "whole ids"),
        ("queue:a\0", "\0", 7, "cannot be in any text"),
    ],
)
def test_a_syntax_error_has_a_position_and_a_hint(text, part, at, says):
    error = refusal(text)

    assert (error.part, error.at) == (part, at)
    assert says in str(error)
    assert f"at character {at + 1}" in error.message


def test_length_terms_and_values_are_bounded():
    assert "limit" in refusal("x" * (MOST_CHARACTERS + 1)).reason
    assert "terms" in refusal("x " * (MOST_TERMS + 1)).reason
    assert "values" in refusal("queue:" + ",".join(map(str, range(MOST_VALUES + 1)))).reason
    assert len(parse("x " * MOST_TERMS).terms) == MOST_TERMS


def test_plain_fields_and_text_give_equal_queries():
    created = JobQuery.of(
        states=["retrying", "dead_letter"],
        definition="mail.send",
        queue="mail",
        source="event",
        correlation_id="order 17",
        fingerprint="",
        created_after=NOW - HOUR,
        created_before=NOW,
    )

    assert str(created) == (
        "state:dead_letter,retrying definition:mail.send queue:mail source:event "
        'correlation:"order 17" -fingerprint:* '
        "created:>2026-07-01T11:00:00Z created:<2026-07-01T12:00:00Z"
    )
    assert parse(str(created)) == created


def test_relative_times_are_resolved_later():
    query = parse("created:>-2h due:<+1h queue:a")

    resolved = query.at(NOW)

    assert query.relative
    assert not resolved.relative
    assert [t.values[0] for t in resolved.terms] == [NOW - 2 * HOUR, NOW + HOUR, "a"]


def test_every_documented_example_parses():
    for name, field in FIELDS.items():
        assert term(field.example).field == name


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
durations = st.timedeltas(timedelta(), timedelta(days=36_525))
names = st.sampled_from([n for n, f in FIELDS.items() if f.kind == "name"])
instants = st.datetimes(
    datetime(1970, 1, 2), datetime(2999, 12, 30), timezones=st.just(UTC)
) | st.builds(RelativeTime, durations | durations.map(lambda d: -d))
compares = st.sampled_from([">", ">=", "<", "<="])
values_of_names = st.lists(
    texts | st.builds(TextPrefix, texts | st.just("")), min_size=1, max_size=4, unique=True
)
terms = st.one_of(
    st.builds(FilterTerm, names, values_of_names.map(tuple), negated=st.booleans()),
    st.builds(
        FilterTerm,
        st.just("payload"),
        values_of_names.map(tuple),
        path=st.lists(st.sampled_from(["a", "b_c", "größe"]), min_size=1, max_size=3).map(tuple),
    ),
    st.builds(FilterTerm, st.just("error"), st.tuples(texts), negated=st.booleans()),
    st.builds(FilterTerm, st.just("created"), st.tuples(instants), compares),
    st.builds(FilterTerm, st.just("duration"), st.tuples(durations), compares),
    st.builds(
        FilterTerm, st.just("attempts"), st.tuples(st.integers(0, 999)), compares | st.just("is")
    ),
)


@given(st.lists(terms, max_size=5))
def test_a_query_round_trips_through_text(made):
    query = JobQuery(tuple(made))

    text = str(query)

    if len(text) <= MOST_CHARACTERS:
        assert parse(text) == query


pieces = st.sampled_from(
    [*(f"{name}:" for name in FIELDS), "-", ",", '"', "*", ">", "<=", "\\", " ", ".", "payload.a:",
     "a", "7", "-2h", "2026-07-01", "true", "dead_letter", "\u2003", "é", "\0"]
)  # fmt: skip


@given(st.lists(pieces, max_size=40).map("".join) | st.text(max_size=200))
def test_any_text_is_parsed_or_refused_and_round_trips(text):
    query = read(text)

    if isinstance(query, FilterInvalid):
        assert query.at in range(len(text) + 1)
        assert query.hint
    else:
        assert parse(str(query)) == query


def read(text: str) -> JobQuery | FilterInvalid:
    try:
        return parse(text)
    except FilterInvalid as refused:
        return refused


@pytest.mark.parametrize(
    "piece", ["a", "-", '"', "\\", "a:", "a.", ",", "*", 'a"', '"\\', ">", " "]
)
def test_worst_case_texts_are_cheap(piece):
    for prefix in ("", "queue:", 'error:"', "payload.", "created:>"):
        text = (prefix + piece * MOST_CHARACTERS)[:MOST_CHARACTERS]
        with counted_calls() as calls:
            read(text)
        assert calls.count < len(text)
