"""Random secrets: create, format and recognize them. Only their hashes are stored."""

import hashlib
import re
import secrets
from uuid import UUID

from windlass.ids import TokenId

_BYTES = 32
_TOKEN = re.compile(r"wl_([0-9a-f]{32})_([A-Za-z0-9_-]{43})")
_OTHER = re.compile(r"wl[sk]_[A-Za-z0-9_-]{43}")

SESSION = "wls_"
LINK = "wlk_"


def new_secret(prefix: str) -> str:
    """256 random bits as text, with a prefix by which they are recognized and redacted."""
    return prefix + secrets.token_urlsafe(_BYTES)


def new_token_text(id: TokenId) -> str:
    """The text of a token, shown once."""
    return new_secret(f"wl_{id.hex}_")


def token_id(text: str) -> TokenId | None:
    """The id in a token's text; None if the text cannot be a token."""
    found = _TOKEN.fullmatch(text)
    return TokenId(UUID(found[1])) if found else None


def is_secret(text: str) -> bool:
    """Check if a text has the form of a session's or a link's secret."""
    return _OTHER.fullmatch(text) is not None


def digest(text: str) -> str:
    """The stored hash of a secret. Plain SHA-256: 256 random bits cannot be guessed."""
    return hashlib.sha256(text.encode()).hexdigest()


def same(one: str, other: str) -> bool:
    """Compare two hashes in constant time."""
    return secrets.compare_digest(one, other)
