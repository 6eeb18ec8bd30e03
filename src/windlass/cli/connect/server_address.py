"""A server's address, and the token or session sent to it."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from windlass.errors import OptionInvalid

_TOKEN = "WINDLASS_TOKEN"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server's URL, with a token or else a session."""

    url: str
    token: str | None = field(default=None, repr=False)
    session: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, url: str, token_file: str | None) -> "ServerAddress":
        """Build the address with the token from a file, else the environment, else `windlass
        login`. There is no flag for the token itself: other users can see command lines."""
        if token_file is None:
            if token := os.environ.get(_TOKEN):
                return cls(url, token)
            from windlass.cli.connect.saved_logins import kept

            return cls(url, **kept(url))
        try:
            token = Path(token_file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not text"
            raise OptionInvalid(
                "token-file", token_file, allowed=f"a file that can be read: {why}"
            ) from None
        if not token or not token.isascii() or not token.isprintable():
            raise OptionInvalid("token-file", token_file, allowed="a file with one token in it")
        return cls(url, token)
