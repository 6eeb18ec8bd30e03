"""Errors of the job library: what a job needs of its application, and is not there."""

from windlass.errors.base import WindlassError
from windlass.errors.wording import printable, quoted, sentence


class TableMissing(WindlassError):
    """A library job needs a table, or a column of it, that the application's database lacks."""

    code = "WL6101"

    def __init__(self, table: str, *, column: str | None = None) -> None:
        self.table = table
        self.column = column
        what = "table" if column is None else f"column {quoted(column)} in the table"
        super().__init__(
            f"there is no {what} {quoted(table)}.",
            reason="A job of the library reads or changes it in the application's database.",
            hint="Give the names that your tables have where the program installs the group.",
        )


class DirectoryMissing(WindlassError):
    """A library job needs a directory that is not there, or that it may not use."""

    code = "WL6102"

    def __init__(self, path: str, *, problem: str, setting: str) -> None:
        self.path = path
        self.setting = setting
        super().__init__(
            f'the directory "{printable(path)}" cannot be used.',
            reason=sentence(problem),
            hint=f"Create it, or name another one: {setting}.",
        )


class SourceUnsupported(WindlassError):
    """The `source` of a group of library jobs is no database that they can use."""

    code = "WL6103"

    def __init__(self, given: str) -> None:
        self.given = given
        super().__init__(
            f"a {given} cannot be the source of library jobs.",
            reason="Their jobs open a connection of their own for each short transaction.",
            hint="Use a blocking SQLAlchemy engine, a function that opens a connection of a driver, "
            "or a database URL.",
        )


class SettingMissing(WindlassError):
    """A library job needs a setting that is not given."""

    code = "WL6104"

    def __init__(self, setting: str, *, needed_by: str) -> None:
        self.setting = setting
        super().__init__(
            f"the setting {setting} is not given.",
            reason=f"Jobs of {needed_by} need it.",
            hint="Set it in windlass.toml or the environment, or where the group is installed.",
        )


class AddressRefused(WindlassError):
    """A library job was to reach an address that it may not: a private one, or no http address."""

    code = "WL6105"

    def __init__(self, host: str, *, because: str) -> None:
        self.host = host
        super().__init__(
            f"{quoted(host)} may not be reached.",
            reason=sentence(because),
            hint="Use an address of the internet, or add its network to library.http_networks.",
        )


class HttpFailed(WindlassError):
    """A request of a library job got no response that it can use. Another attempt may help."""

    code = "WL6106"

    def __init__(self, host: str, *, problem: str) -> None:
        self.host = host
        super().__init__(
            f"the request to {quoted(host)} failed.",
            reason=sentence(problem),
            hint="Check that the server responds, and retry the job.",
        )
