"""The job library: ready jobs for what most applications need, installed by group.

    from windlass import Windlass, library

    wl = Windlass("sqlite:///shop.db")
    wl.install(library.accounts, source=engine)

They are ordinary definitions with default schedules. `library.accounts` knows the tables by their
default names; `library.Accounts(sessions=…)` takes others.
"""

from windlass.library.accounts import Accounts
from windlass.library.cms import Cms
from windlass.library.data.caches import Cache, Cleared, FileCache, TableCache
from windlass.library.data.expiry import delete_batches
from windlass.library.data.source import Source
from windlass.library.data.tables import DateRule, ExpiringRows, ExpiringTable
from windlass.library.sitemap.content import Content, ContentTable, Page, SlugTable, SqlContent
from windlass.library.web import Web

__all__ = [
    "Accounts",
    "Cache",
    "Cleared",
    "Cms",
    "Content",
    "ContentTable",
    "DateRule",
    "ExpiringRows",
    "ExpiringTable",
    "FileCache",
    "Page",
    "SlugTable",
    "Source",
    "SqlContent",
    "TableCache",
    "Web",
    "accounts",
    "cms",
    "delete_batches",
    "web",
]

accounts = Accounts()
cms = Cms()
web = Web()
