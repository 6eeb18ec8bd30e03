"""Text cut to a byte limit, without characters that databases refuse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.text import clean, storable

any_text = st.text(st.characters(exclude_categories=[]) | st.just("\x00"))


@given(any_text, st.integers(0, 200))
def test_cleaned_text_fits_and_is_storable(text, limit):
    cleaned = clean(text, limit)

    assert len(cleaned.encode()) <= limit
    assert "\x00" not in cleaned


@given(any_text)
def test_short_text_is_only_cleaned(text):
    assert clean(text, 10_000) == storable(text)
    assert len(storable(text)) == len(text)


@given(any_text, st.integers(0, 200))
def test_cleaning_is_idempotent(text, limit):
    cleaned = clean(text, limit)

    assert clean(cleaned, limit) == cleaned


def test_nul_and_lone_surrogates_are_replaced():
    assert clean("a\x00b\ud800c😀", 100) == "a\ufffdb\ufffdc😀"


def test_head_and_tail_are_kept_around_a_mark():
    cut = clean("a" * 10_000 + "z" * 10_000, 100)

    assert cut.startswith("aaaa")
    assert cut.endswith("zzzz")
    mark = cut.strip("az")
    assert mark == "… 19,929 bytes left out …"
    assert 20_000 - (len(cut) - len(mark)) == 19_929


@given(st.text("aé€😀", min_size=60, max_size=300), st.integers(40, 100))
def test_the_mark_counts_the_omitted_bytes(text, limit):
    cut = clean(text, limit)

    if cut != text:
        head, number, *_, tail = (
            cut.replace("… ", "\n", 1).replace(" …", "\n").replace(" bytes", "\nbytes").split("\n")
        )
        kept = len(head.encode()) + len(tail.encode())
        assert int(number.replace(",", "")) == len(text.encode()) - kept
        assert text.startswith(head)
        assert text.endswith(tail)


@pytest.mark.parametrize("limit", range(30))
def test_a_limit_too_small_for_a_mark_keeps_the_beginning(limit):
    cut = clean("é" * 1000, limit)

    assert cut + "é" * (1000 - len(cut)) == "é" * 1000 or "left out" in cut
