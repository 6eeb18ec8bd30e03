"""Dedupe keys, and the names that may be given to things."""

import hashlib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from windlass.core.jobs.dedupe import (
    LONGEST_NAME,
    check_app_key,
    check_name,
    check_stored,
    payload_key,
)
from windlass.core.payloads.json_text import dump_json, load_json
from windlass.errors import OptionInvalid


@given(st.dictionaries(st.text(), st.lists(st.integers())))
def test_key_order_does_not_matter(payload):
    backwards = dict(reversed(payload.items()))

    assert payload_key("a", payload) == payload_key("a", backwards)


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")), st.integers()
    )
)
def test_a_key_is_unchanged_by_storing(payload):
    assert payload_key("a", load_json(dump_json(payload))) == payload_key("a", payload)


def test_a_key_is_stable_across_processes_and_versions():
    key = payload_key("mail.send", {"to": "ada", "n": [1, 2.5, None]})

    canonical = b'["mail.send",{"n":[1,2.5,null],"to":"ada"}]'
    assert key == hashlib.sha256(canonical).hexdigest()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", {}), ("b", {})),
        (("a", {"n": 1}), ("a", {"n": 1.0})),
        (("a", {"n": 1}), ("a", {"n": True})),
        (("a", {"n": None}), ("a", {})),
        (("a", {"n": "1"}), ("a", {"n": 1})),
        (("a", {"n": [1, 2]}), ("a", {"n": [2, 1]})),
        (('a",{}', {}), ("a", '",{}')),
    ],
)
def test_different_payloads_have_different_keys(one, other):
    assert payload_key(*one) != payload_key(*other)


@pytest.mark.parametrize("check", [check_name, check_app_key, check_stored])
@given(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=LONGEST_NAME))
def test_a_printable_name_is_accepted(check, name):
    assume(not set(name) & set("\u115f\u1160\u2800\u3164\uffa0"))

    assert check("queue", name) == name


@given(st.characters(categories=["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"]), st.text(max_size=9))
def test_a_name_with_an_unprintable_character_is_refused(character, around):
    assume(character.strip() or around.strip() == around)

    with pytest.raises(OptionInvalid) as caught:
        check_name("queue", f"a{character}{around}z")

    assert f"Character 2 is U+{ord(character):04X}" in caught.value.reason
    assert character not in str(caught.value)


@pytest.mark.parametrize("check", [check_name, check_app_key, check_stored])
@pytest.mark.parametrize("wrong", ["", "x" * 192, "a\x00b", "\ud800", None, 5])
def test_unstorable_names_are_refused(check, wrong):
    with pytest.raises(OptionInvalid) as caught:
        check("queue", wrong)

    assert caught.value.option == "queue"


@pytest.mark.parametrize("name", ["a ", " a", "\u00a0a", "a\u3000", "ad\u200dmin", "\u3164"])
def test_a_confusable_name_is_refused_but_a_key_is_not(name):
    with pytest.raises(OptionInvalid):
        check_name("queue", name)

    assert check_app_key("dedupe_key", name) == name


def test_a_name_older_than_the_rule_is_still_found():
    assert check_stored("queue", "old\x1b[2J") == "old\x1b[2J"
