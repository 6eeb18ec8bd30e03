import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.dedupe import LONGEST_NAME, check_name, payload_key
from windlass.core.jsontext import dump_json, load_json
from windlass.errors import OptionInvalid


@given(st.dictionaries(st.text(), st.lists(st.integers())))
def test_the_order_of_keys_does_not_matter(payload):
    backwards = dict(reversed(payload.items()))

    assert payload_key("a", payload) == payload_key("a", backwards)


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")), st.integers()
    )
)
def test_the_key_survives_storing(payload):
    assert payload_key("a", load_json(dump_json(payload))) == payload_key("a", payload)


def test_a_key_is_the_same_in_every_process_and_version():
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
def test_what_differs_has_another_key(one, other):
    assert payload_key(*one) != payload_key(*other)


@given(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\x00"),
        min_size=1,
        max_size=LONGEST_NAME,
    )
)
def test_a_name_within_the_limit_is_taken_as_it_is(name):
    assert check_name("queue", name) == name


@pytest.mark.parametrize("wrong", ["", "x" * 192, "a\x00b", "\ud800", None, 5])
def test_a_name_that_cannot_be_stored_is_refused(wrong):
    with pytest.raises(OptionInvalid) as caught:
        check_name("queue", wrong)

    assert caught.value.option == "queue"
