"""Suggestions for a filter that is being typed."""

import pytest

from windlass.core.jobs.filter import parse
from windlass.core.jobs.filter_fields import FIELDS
from windlass.core.monitoring.suggestions import KnownValue, suggest, typed_term
from windlass.core.monitoring.summary import CappedCount

VALUES = {
    "state": [KnownValue("running", CappedCount(3)), KnownValue("retrying", CappedCount(1))],
    "definition": [KnownValue("mail.send", CappedCount(12)), KnownValue("bulk mail")],
}


def inserts(text, **options):
    found = suggest(typed_term(text), VALUES, limit=50, **options)
    return [each.insert for each in found]


def test_nothing_typed_suggests_every_field():
    assert [each.rstrip(":.") for each in inserts("")] == list(FIELDS)
    assert inserts("state:running ")[0] == "state:running state:"


def test_a_word_suggests_fields_then_values_then_meanings():
    assert inserts("defin") == ["definition:", "tag:"]
    assert inserts("mai") == ["definition:mail.send ", 'definition:"bulk mail" ']
    assert inserts("-st")[:2] == ["-state:", "-started:"]


def test_a_field_suggests_its_values_and_those_that_begin_so_first():
    assert inserts("definition:mail") == ["definition:mail.send ", 'definition:"bulk mail" ']
    assert inserts("attempts:>3 definition:MAIL.*") == ["attempts:>3 definition:mail.send "]


def test_after_a_comma_another_value_follows():
    assert inserts("-state:running,") == ["-state:running,retrying "]


def test_values_of_few_words_and_typical_ones_are_suggested_without_counts():
    assert inserts("source:s") == ["source:schedule ", "source:system "]
    assert inserts("created:>-1") == ["created:>-15m ", "created:>-1h "]
    assert "priority:<=high " in inserts("priority:")


@pytest.mark.parametrize("text", ["nonsense:x", "payload.user:", 'error:"a b', "tenant:a"])
def test_where_nothing_is_known_nothing_is_suggested(text):
    assert inserts(text) == []


def test_a_hidden_field_is_not_suggested():
    assert inserts("tena", hidden=("tenant",)) == []


def test_quotes_are_not_separators():
    assert inserts('error:"a, b" sta')[0] == 'error:"a, b" state:'
    assert typed_term('definition:"a, b",c').given == ('"a, b"',)


@pytest.mark.parametrize("value", ["a b", 'say "hi"', "a,b", "star*", "back\\slash", ">1", "-x"])
def test_a_taken_value_means_itself(value):
    known = {"definition": [KnownValue(value)]}
    [found] = suggest(typed_term("definition:"), known, limit=5)

    [term] = parse(found.insert).terms

    assert term.values == (value,)
