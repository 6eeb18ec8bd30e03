"""Patterns of credentials in text.

Every pattern takes linear work on every text. Where a pattern begins to match and then fails, its
second alternative consumes what was read, so that no character is read again from the next start.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

#: What stands in the place of a secret.
MASK = "•••"


@dataclass(frozen=True, slots=True)
class TextRule:
    """One pattern, and what replaces a match of it.

    Text without `hint` cannot match, which is cheaper to see. `group` names the part of a match
    that must be present; a match without it is kept as it is.
    """

    name: str
    pattern: re.Pattern[str]
    shown: str
    hint: str = ""
    group: str | None = None

    def hide(self, text: str) -> str:
        if self.hint not in text:
            return text
        if self.group is None:
            return self.pattern.sub(self.shown, text)
        return self.pattern.sub(self._replace, text)

    def _replace(self, found: re.Match[str]) -> str:
        return found[0] if found[self.group or 0] is None else self.shown


CREDENTIALS = (
    # scheme://user:password@host. A / or @ in the password should be encoded, and often is not.
    TextRule(
        "url",
        re.compile(r"://[^\s/:@'\"]*+:(?:(?P<secret>(?:[^\s'\"@]*+@)++)|[^\s'\"]*+)"),
        f"://{MASK}@",
        hint="://",
        group="secret",
    ),
    TextRule(
        "bearer",
        re.compile(r"(?<=[Ee][Aa][Rr][Ee][Rr])(?<=\b[Bb].{5})[ \t]{1,8}+[A-Za-z0-9._~+/=-]{8,}+"),
        f" {MASK}",
    ),
    TextRule(
        "json web token",
        re.compile(
            r"eyJ(?<=\beyJ)(?:(?P<secret>[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+)"
            r"|[A-Za-z0-9_-]*+)"
        ),
        MASK,
        hint="eyJ",
        group="secret",
    ),
    # our own tokens, sessions and links
    TextRule(
        "windlass token",
        re.compile(r"wl(?<=\bwl)(?:_[0-9a-f]{32}|[sk])_[A-Za-z0-9_-]{40,}+"),
        MASK,
        hint="wl",
    ),
    # tokens that say by their first letters what they are
    TextRule(
        "vendor token",
        re.compile(r"\b(?:g(?:h[a-z]|ithub_pat|lpat)|xox[a-z]|[sr]k)[-_][A-Za-z0-9_-]{20,}+"),
        MASK,
    ),
    TextRule(
        "private key",
        re.compile(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
            r"(?:[^-]++|-(?!----END [A-Z ]{0,30}PRIVATE KEY-----))*+"
            r"(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?+"
        ),
        MASK,
        hint="-----BEGIN ",
    ),
)

#: Found in every text that one of these matches, and in few others: one search spares most texts
#: the rules. It begins with a set of characters, which is what makes it fast.
MAYBE_CREDENTIAL = re.compile(
    r"[:eEw_-](?://|[Aa][Rr][Ee][Rr][ \t]|yJ|l[_sk]|----BEGIN |[A-Za-z0-9_-]{20})"
)


def wildcard_rule(pattern: str) -> TextRule:
    """A rule for text in which one `*` stands for any run of characters without spaces and quotes."""
    before, star, after = map(re.escape, pattern.partition("*"))
    if not star:
        return TextRule(pattern, re.compile(before), MASK, hint=pattern)
    run = r"[^\s\"']"
    if not after:
        return TextRule(pattern, re.compile(f"{before}{run}{'*' if before else '+'}+"), MASK)
    # To the last `after` of the run.
    hidden = f"(?P<secret>(?:(?:(?!{after}){run})*+{after})++)"
    if not before:
        return TextRule(pattern, re.compile(f"(?<!{run}){hidden}"), MASK)
    return TextRule(pattern, re.compile(f"{before}(?:{hidden}|{run}*+)"), MASK, group="secret")


class Assignments:
    """Hides the value in `name=value`, `name: value` and `"name": "value"`, for secret names.

    `words` are lower-case letters and digits. A name is secret if one of them is part of it, with
    any dashes and underscores between its letters.
    """

    def __init__(self, words: Iterable[str]) -> None:
        spelled = _any_of(sorted(set(words))) or r"(?!)"
        # The name is consumed to its end even if no value follows, so that it is read once.
        self.pattern = re.compile(
            rf"""
            (?:{spelled}) [\w-]*+
            (?: \\{{0,4}}+["']?+ [ \t]{{0,4}}+ [:=] [ \t]{{0,4}}+
                (?!(?:true|false|null|none)\b)
                (?P<value> \\{{0,4}}+"[^"\\]*+(?:\\.[^"\\]*+)*+"?+
                  | '[^'\\]*+(?:\\.[^'\\]*+)*+'?+
                  | {MASK} | -?\d++(?:\.\d++)?+(?=[,\]}}\s]|\Z)
                  | (?:(?:basic|bearer|digest|negotiate|token)[ \t]{{1,4}}+)?+ [^\s&]++
                )
            )?+""",
            re.DOTALL | re.VERBOSE,
        )

    def hide(self, text: str) -> str:
        lowered = text.lower()
        if len(lowered) != len(text):  # a letter whose small form is two: positions would shift
            lowered = "".join(each if len(low := each.lower()) != 1 else low for each in text)
        parts: list[str] = []
        shown_to = 0
        for found in self.pattern.finditer(lowered):
            if found.lastindex is None:
                continue
            start, end = found.span(1)
            parts.append(text[shown_to:start])
            parts.append(_mask_value(text[start:end]) if text[start] in _QUOTING else MASK)
            shown_to = end
        return "".join([*parts, text[shown_to:]]) if parts else text


_QUOTING = frozenset("\\\"'")


def _mask_value(value: str) -> str:
    quote = value.lstrip("\\")[:1]
    return f"{quote}{MASK}{quote}" if quote in ("'", '"') else MASK


def _any_of(words: list[str]) -> str:
    """A pattern of any of the words, with dashes and underscores between their letters.

    Words that begin alike share their beginning: at each place one alternative can match.
    """
    if "" in words:  # what goes on after a whole word is part of the name anyway
        return ""
    starts = [
        re.escape(first) + (f"[-_]?{rest}" if (rest := _any_of([w[1:] for w in same])) else "")
        for first, same in ((k, list(g)) for k, g in groupby(words, key=lambda word: word[0]))
    ]
    return starts[0] if len(starts) == 1 else f"(?:{'|'.join(starts)})" if starts else ""
