"""A database URL, taken apart once; its secrets stay inside."""

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from windlass.errors import UnsupportedDatabase

_KINDS = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlite": "sqlite",
}


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a database. `place` is safe to show: host and port, or the file."""

    kind: str
    url: str = field(repr=False)
    place: str
    host: str = ""
    port: int | None = None
    user: str = ""
    password: str = field(default="", repr=False)
    name: str = ""
    options: dict[str, str] = field(default_factory=dict)

    @property
    def in_memory(self) -> bool:
        """The database exists only in the memory of one connection."""
        return self.kind == "sqlite" and self.name == ":memory:"

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Take a URL apart; drivers named in the scheme (`postgresql+psycopg://`) are ignored."""
        parts = urlsplit(url)
        scheme = parts.scheme.split("+")[0].lower()
        kind = _KINDS.get(scheme)
        if kind is None:
            raise UnsupportedDatabase(parts.scheme)
        if kind == "sqlite":
            # sqlite:///file is relative, sqlite:////file absolute, as everywhere else.
            path = unquote(parts.path.removeprefix("/")) or ":memory:"
            return cls(kind, url, place=path, name=path, options=dict(parse_qsl(parts.query)))
        try:
            port = parts.port
        except ValueError:
            raise UnsupportedDatabase(f"{scheme} with a port that is no number") from None
        default = 5432 if kind == "postgresql" else 3306
        plain = urlunsplit(("postgresql" if kind == "postgresql" else "mysql", *parts[1:]))
        return cls(
            kind,
            plain,
            place=f"{parts.hostname or 'localhost'}:{port or default}",
            host=parts.hostname or "localhost",
            port=port or default,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            name=unquote(parts.path.removeprefix("/")),
            options=dict(parse_qsl(parts.query)),
        )
