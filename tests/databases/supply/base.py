"""The interface of a supply of test databases."""

from abc import ABC, abstractmethod


class Supply(ABC):
    """Databases of one kind, for one test process."""

    @abstractmethod
    def version(self) -> str:
        """The database's version, such as `15.18`."""

    @abstractmethod
    def migrated(self) -> str:
        """URL of a database with the newest schema and nothing in it.

        It is the caller's until the next call, which may wipe it to give it out again.
        """

    @abstractmethod
    def empty(self) -> str:
        """URL of a new database without any tables."""

    @abstractmethod
    def drop(self, url: str) -> None:
        """Remove a database created by `empty`, even with open connections."""

    @abstractmethod
    def close(self) -> None:
        """Remove everything created here."""
