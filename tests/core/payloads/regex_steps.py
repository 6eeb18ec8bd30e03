"""Counts the steps of a backtracking search, so that a test can compare them without a clock.

`re` does not report its number of steps. This interpreter runs the same parsed pattern with
the same strategy (leftmost, greedy, backtracking) and counts each test of a character or position.
"""

import re
import sys
from collections.abc import Iterator
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

_CATEGORIES = {
    op.CATEGORY_DIGIT: str.isdigit,
    op.CATEGORY_NOT_DIGIT: lambda c: not c.isdigit(),
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    op.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    op.CATEGORY_NOT_WORD: lambda c: not (c.isalnum() or c == "_"),
}
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_SINGLE = (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN)


class StepCounter:
    """Searches one text for all matches of one pattern, as `finditer` does."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._tree = list(_parser.parse(pattern.pattern, pattern.flags))
        self._flags = pattern.flags
        self._text = text
        self.steps = 0

    def spans(self) -> list[tuple[int, int]]:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))
        found, at = [], 0
        while at <= len(self._text):
            end = next(self._run(self._tree, 0, at), None)
            if end is None:
                at += 1
            else:
                found.append((at, end))
                at = end if end > at else at + 1
        return found

    def try_all_ends(self) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))
        for _ in self._run(self._tree, 0, 0):
            pass

    def _run(self, nodes: list[Any], place: int, at: int) -> Iterator[int]:
        """The ends of all matches of `nodes[place:]` at a position, the preferred one first."""
        if place == len(nodes):
            yield at
            return
        for end in self._node(nodes[place], at):
            yield from self._run(nodes, place + 1, end)

    def _node(self, node: tuple[Any, Any], at: int) -> Iterator[int]:
        self.steps += 1
        kind, value = node
        if kind in _SINGLE:
            if self._fits(node, at):
                yield at + 1
        elif kind is op.AT:
            if self._is_at(value, at):
                yield at
        elif kind is op.SUBPATTERN:
            _, more, less, body = value
            flags, self._flags = self._flags, (self._flags | more) & ~less
            yield from self._run(list(body), 0, at)
            self._flags = flags
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from self._run(list(branch), 0, at)
        elif kind is op.ATOMIC_GROUP:
            yield from self._first(self._run(list(value), 0, at))
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            if self._asserts(value, at) == (kind is op.ASSERT):
                yield at
        elif kind in _REPEATS:
            yield from self._repeat(kind, *value, at)
        else:
            # A pattern that cannot be counted must fail the test, not pass it.
            raise AssertionError(f"no steps are known for {kind}")

    def _repeat(self, kind: Any, least: int, most: int, body: Any, at: int) -> Iterator[int]:
        nodes = list(body)
        if kind is op.MIN_REPEAT:
            yield from self._lazy(nodes, least, most, at)
        elif len(nodes) == 1 and nodes[0][0] in _SINGLE:
            end = at
            while end - at < most and self._counted_fit(nodes[0], end):
                end += 1
            stop = end - 1 if kind is op.POSSESSIVE_REPEAT else at + least - 1
            for each in range(end, max(stop, at + least - 1), -1):
                self.steps += 1
                yield each
        elif kind is op.POSSESSIVE_REPEAT:
            count = 0
            while count < most and (end := next(self._run(nodes, 0, at), None)) is not None:
                count += 1
                if end == at:
                    break
                at = end
            if count >= least:
                yield at
        else:
            yield from self._greedy(nodes, least, most, at)

    def _greedy(self, nodes: list[Any], least: int, most: int, at: int) -> Iterator[int]:
        if most > 0:
            for end in self._run(nodes, 0, at):
                if end > at:
                    yield from self._greedy(nodes, max(0, least - 1), most - 1, end)
        if least <= 0:
            yield at

    def _lazy(self, nodes: list[Any], least: int, most: int, at: int) -> Iterator[int]:
        count, ends = 0, [at]
        while ends:
            if count >= least:
                yield ends[0]
            if count == most:
                return
            count += 1
            ends = [end for end in self._run(nodes, 0, ends[0]) if end > ends[0]][:1]

    def _asserts(self, value: Any, at: int) -> bool:
        direction, body = value
        if direction < 0:
            width, _ = body.getwidth()
            return at >= width and at in self._run(list(body), 0, at - width)
        return next(self._run(list(body), 0, at), None) is not None

    def _is_at(self, where: Any, at: int) -> bool:
        text = self._text
        if where in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            return at == 0 or (bool(self._flags & re.M) and text[at - 1] == "\n")
        if where in (op.AT_END, op.AT_END_STRING):
            return at == len(text) or (bool(self._flags & re.M) and text[at] == "\n")
        word = [0 <= place < len(text) and _is_word(text[place]) for place in (at - 1, at)]
        return (word[0] != word[1]) == (where is op.AT_BOUNDARY)

    def _counted_fit(self, node: tuple[Any, Any], at: int) -> bool:
        self.steps += 1
        return self._fits(node, at)

    def _fits(self, node: tuple[Any, Any], at: int) -> bool:
        if at >= len(self._text):
            return False
        character = self._text[at]
        kind, value = node
        if kind is op.ANY:
            return bool(self._flags & re.S) or character != "\n"
        if kind is op.LITERAL:
            return self._equal(character, value)
        if kind is op.NOT_LITERAL:
            return not self._equal(character, value)
        return self._in_set(character, value)

    def _in_set(self, character: str, items: list[tuple[Any, Any]]) -> bool:
        negated = items[0][0] is op.NEGATE
        for kind, value in items[1:] if negated else items:
            if kind is op.LITERAL:
                fits = self._equal(character, value)
            elif kind is op.RANGE:
                low, high = value
                fits = any(low <= ord(each) <= high for each in self._cases(character))
            else:
                fits = _CATEGORIES[value](character)
            if fits:
                return not negated
        return negated

    def _equal(self, character: str, code: int) -> bool:
        return chr(code) in self._cases(character)

    def _cases(self, character: str) -> set[str]:
        if self._flags & re.I:
            return {character, character.lower(), character.upper()}
        return {character}

    def _first(self, ends: Iterator[int]) -> Iterator[int]:
        end = next(ends, None)
        if end is not None:
            yield end


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def steps(pattern: re.Pattern[str], text: str, *, anchored: bool = False) -> int:
    """Count the steps of a search of the whole text; `anchored` counts a match at its start
    that tries every way, as `fullmatch` does."""
    counter = StepCounter(pattern, text)
    if anchored:
        counter.try_all_ends()
    else:
        counter.spans()
    return counter.steps
