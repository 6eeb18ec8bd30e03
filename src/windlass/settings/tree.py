"""Every setting: what it is, its default, its range, and when to change it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from windlass.settings.commands import CommandSettings
from windlass.settings.kinds import (
    AddressKind,
    BooleanKind,
    IntegerKind,
    ListKind,
    NetworkKind,
    NumberKind,
    TextKind,
    setting,
)

_KIB = 1024
_YEAR = 366 * 86_400
_FOREVER = {"forever": None}
_UNLIMITED = {"unlimited": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSettings:
    """The database that holds everything."""

    url: str = setting(
        TextKind(),
        "sqlite:///windlass.db",
        "Where the jobs are: sqlite:///file.db, postgresql://user@host/name, mariadb:// or "
        "mysql://.",
        url=True,
    )
    schema: str | None = setting(
        TextKind(),
        None,
        "PostgreSQL only: the schema the tables are in. Unset means the first one in the search "
        "path.",
    )
    row_security: bool = setting(
        BooleanKind(),
        False,
        "PostgreSQL 15 and newer: a second check between tenants. Each connection names the tenant of "
        "its request, and policies hide all others. For the server; first run "
        "`windlass db secure`, and let it connect as a role that owns nothing.",
    )
    listen_url: str | None = setting(
        TextKind(),
        None,
        "PostgreSQL only: a direct connection for wake-up signals. Set it when `database.url` "
        "leads through a transaction pooler, which cannot carry them.",
        url=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """Running jobs."""

    enabled: bool = setting(
        BooleanKind(),
        True,
        "Whether this process runs jobs. With false, and `scheduler.enabled` false too, an "
        "embedding program or `serve --all` runs none.",
    )
    concurrency: int = setting(
        IntegerKind(1, 10_000),
        4,
        "Jobs one process runs at the same time. Raise it for handlers that mostly wait; 1 runs "
        "them one after another.",
    )
    poll_interval_ms: int = setting(
        IntegerKind(100, 60_000),
        1000,
        "How often to look for work when no wake-up signal came. A safety net; lower it only "
        "where signals cannot arrive.",
    )
    lease_seconds: int = setting(
        IntegerKind(1, 3600),
        30,
        "How long a worker holds a job without renewing; it renews every third of that. Shorter "
        "finds dead workers sooner, longer bears longer pauses of the database.",
    )
    max_attempts: int = setting(
        IntegerKind(1, 100),
        3,
        "Attempts a job has, the first included, unless its definition says otherwise. 1 means no "
        "retry.",
    )
    shutdown_timeout_seconds: int = setting(
        IntegerKind(0, 3600),
        30,
        "How long a stopping worker lets its jobs finish before it hands them back. Keep it "
        "below what your process manager grants.",
    )
    memory_limit_mb: int | None = setting(
        IntegerKind(16, 16_777_216),
        None,
        "A worker that uses more memory than this stops claiming, finishes what it has, and exits "
        "to be restarted. Unset means no limit.",
    )
    code_version: str | None = setting(
        TextKind(),
        None,
        "The version of your code that a worker reports, such as a commit. Lists of workers and "
        "groups of dead letters show it. Unset means a hash of the files that declare its jobs.",
    )
    health_port: int | None = setting(
        IntegerKind(1, 65_535),
        None,
        "A port on which the worker answers /healthz, /readyz and /metrics. Unset means none.",
    )
    health_host: str = setting(
        TextKind(),
        "127.0.0.1",
        "Where that port listens. 0.0.0.0 lets a probe in from outside, as Kubernetes needs; the "
        "port shows nothing secret.",
    )
    handler_paths: tuple[str, ...] = setting(
        ListKind(TextKind()),
        (),
        "Prefixes of dotted paths, such as `shop.jobs`, under which definitions made by operators may "
        "name their handlers: checked where a definition is saved, and by the worker before it imports "
        "anything. None by default.",
    )
    queues: tuple[str, ...] | None = setting(
        ListKind(TextKind()),
        None,
        'Queues this worker serves, in turn. "*" means every queue there is.',
        words={"*": None},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerSettings:
    """Turning schedules into jobs."""

    enabled: bool = setting(
        BooleanKind(), True, "Whether this process fires schedules. Any number of processes may."
    )
    tick_seconds: int = setting(
        IntegerKind(1, 3600),
        15,
        "How often to look for due schedules. It also wakes at the next due instant; a smaller "
        "value only notices changes made elsewhere sooner.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BackoffSettings:
    """Delay before a failed job is tried again, unless its definition says otherwise:
    min(cap, base * factor ^ (attempts - 1) + a random part of jitter)."""

    kind: Literal["exponential", "fixed", "list", "none"] = setting(
        TextKind("exponential", "fixed", "list", "none"),
        "exponential",
        "exponential: longer each time; fixed: always the base; list: the delays in turn, the "
        "last one repeating; none: at once.",
    )
    base_seconds: float = setting(
        NumberKind(0, _YEAR), 5.0, "The first delay, and every one if fixed."
    )
    factor: float = setting(
        NumberKind(1, 1000), 2.0, "What each delay is multiplied by to give the next."
    )
    cap_seconds: float = setting(
        NumberKind(0, _YEAR), 300.0, "The longest delay of kind exponential, jitter included."
    )
    jitter_seconds: float = setting(
        NumberKind(0, _YEAR),
        1.0,
        "Up to this much is added at random, so that jobs do not retry in step.",
    )
    delays_seconds: tuple[float, ...] = setting(
        ListKind(NumberKind(0, _YEAR)), (), "The delays of kind list."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """Buffering of what handlers log, on its way to the database."""

    buffer_lines: int = setting(
        IntegerKind(1, 10_000), 100, "Lines a job gathers before they are written."
    )
    buffer_seconds: float = setting(
        NumberKind(0.1, 300), 5.0, "The longest a line waits to be written."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """Sizes. The defaults are also the ceilings: they can only be lowered."""

    payload_bytes: int = setting(
        IntegerKind(_KIB, 256 * _KIB), 256 * _KIB, "A job's payload; more is refused."
    )
    result_bytes: int = setting(
        IntegerKind(_KIB, 256 * _KIB),
        256 * _KIB,
        "A job's result; more fails the attempt, unless the job is declared with truncate_result.",
    )
    error_bytes: int = setting(
        IntegerKind(_KIB, 64 * _KIB), 64 * _KIB, "An error; of more head and tail are kept."
    )
    output_tail_bytes: int = setting(
        IntegerKind(0, 64 * _KIB),
        64 * _KIB,
        "The end of a command's output that is kept, per stream.",
    )
    log_line_bytes: int = setting(
        IntegerKind(80, 16 * _KIB),
        16 * _KIB,
        "A line of a job's log; of more head and tail are kept.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionSettings:
    """Texts hidden wherever payloads, logs, errors and output are shown, besides fields that payload
    schemas mark and the names and credentials Windlass always hides."""

    names: tuple[str, ...] = setting(
        ListKind(TextKind(shortest=2)),
        (),
        "Words that make a field secret, as a part of its name, whatever the case.",
    )
    patterns: tuple[str, ...] = setting(
        ListKind(TextKind(shortest=4)),
        (),
        "Texts to hide. One * stands for any run of characters without spaces and quotes, as in "
        '"acme_live_*".',
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionSettings:
    """Encryption of what payload schemas mark as secret. The same keys in every process that
    enqueues or runs jobs; needs the extra `encryption`."""

    keys: tuple[str, ...] = setting(
        ListKind(TextKind(shortest=43)),
        (),
        "Keys as `windlass config generate-key` makes them. The first one encrypts, all decrypt. "
        "Better given as WINDLASS_ENCRYPTION_KEYS than written to a file that others read.",
        secret=True,
    )
    key_file: str | None = setting(
        TextKind(),
        None,
        "A file with such keys, one a line. They come after those of `encryption.keys`.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The API and the dashboard."""

    environment: str | None = setting(
        TextKind(),
        None,
        "The name of this installation, such as prod or staging; the dashboard shows it as a badge. "
        "Unset means dev under `windlass dev`, else none.",
    )
    secret: str | None = setting(
        TextKind(shortest=32),
        None,
        "Signs cursors and sessions, the same in all server processes. Unset means a new one at "
        "each start. Better given as WINDLASS_SERVER_SECRET than written to a file.",
        secret=True,
    )
    requests_per_minute_per_token: int | None = setting(
        IntegerKind(60, 6_000_000),
        30_000,
        "Requests that one token or session may make. A minute's worth may come at once. Each "
        "server process counts for itself.",
        words=_UNLIMITED,
    )
    requests_per_minute_per_worker: int | None = setting(
        IntegerKind(600, 60_000_000),
        600_000,
        "The same for a worker's token, which many workers may share.",
        words=_UNLIMITED,
    )
    requests_per_minute_per_tenant: int | None = setting(
        IntegerKind(60, 60_000_000),
        60_000,
        "Requests by all tokens and sessions of one tenant together.",
        words=_UNLIMITED,
    )
    requests_per_minute_per_address: int | None = setting(
        IntegerKind(10, 6_000_000),
        600,
        "Requests from one address with no credential that was found good: to sign in, or by "
        "mistake. Behind a proxy that is not in `server.trusted_proxies` all clients share one address.",
        words=_UNLIMITED,
    )
    trusted_proxies: tuple[str, ...] = setting(
        ListKind(NetworkKind()),
        (),
        "Addresses or networks of the reverse proxies in front of the server. Only from these are "
        "`X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Prefix` believed; the rightmost address "
        "that is not listed is the client, and the prefix is what the proxy took off the path.",
    )
    max_connections: int = setting(
        IntegerKind(10, 1_000_000),
        2_000,
        "Connections open at the same time, live updates included; more are closed at once. Never more "
        "than the process may open files, less 128.",
    )
    max_connections_per_address: int | None = setting(
        IntegerKind(1, 1_000_000),
        200,
        "Connections from one address at the same time. Trusted proxies have no such limit.",
        words=_UNLIMITED,
    )
    header_timeout_seconds: float = setting(
        NumberKind(0.1, 600),
        10.0,
        "How long a client may take to send the head of a request. A slower connection is closed.",
    )
    body_timeout_seconds: float = setting(
        NumberKind(0.1, 3600),
        30.0,
        "How long a client may take to send the body of a request. A slower connection is closed.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """The record of who changed what."""

    key: str | None = setting(
        TextKind(shortest=32),
        None,
        "Signs where the audit chains end, so that entries cut off at the end are found; the same "
        "in all processes. Unset means that they are not signed. Better given as "
        "WINDLASS_AUDIT_KEY than written to a file that others read.",
        secret=True,
    )
    key_file: str | None = setting(
        TextKind(),
        None,
        "A file that has the key as its first line, instead of `audit.key`.",
    )
    accepted_keys: tuple[str, ...] = setting(
        ListKind(TextKind(shortest=32)),
        (),
        "Other keys whose signatures are accepted: the one before, or the next one while processes "
        "change over.",
        secret=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSettings:
    """Alerts about dead-lettered jobs: by mail, by webhook or both. One message for each
    definition and cause, sent by one of the processes that do upkeep; all need these settings."""

    interval_seconds: int = setting(
        IntegerKind(60, 7 * 86_400),
        3600,
        "The least time between two messages to a receiver about the same definition and cause. A "
        "receiver that fails is tried again after it.",
    )
    mail_to: tuple[str, ...] = setting(
        ListKind(TextKind(shortest=3)), (), "Addresses that get a mail. None by default."
    )
    mail_from: str = setting(
        TextKind(shortest=3), "windlass@localhost", "The sender of these mails."
    )
    smtp_url: str = setting(
        AddressKind("smtp", "smtps"),
        "smtp://localhost",
        "The mail server: smtp://user:password@host:587 (encrypted by STARTTLS where the server "
        "offers it; a password is not sent without, but to this machine) or "
        "smtps://user:password@host. Better given as WINDLASS_ALERTS_SMTP_URL than written to a file.",
        url=True,
    )
    webhook_url: str | None = setting(
        AddressKind("https", "http"),
        None,
        "An address that gets a POST with JSON. Better given as WINDLASS_ALERTS_WEBHOOK_URL than "
        "written to a file, if it has a secret in it. Unset means none.",
        secret=True,
    )
    webhook_secret: str | None = setting(
        TextKind(shortest=16),
        None,
        "Signs what the webhook gets: `webhook-signature` is v1 and the base64 of the HMAC-SHA256 "
        "of `webhook-id`, `webhook-timestamp` and the body, joined by dots. Unset means not signed.",
        secret=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LibrarySettings:
    """The job library: ready jobs on the tables and files of your application."""

    groups: tuple[str, ...] = setting(
        ListKind(TextKind("accounts", "cms", "web")),
        (),
        "Groups of ready jobs to install, as `wl.install(…)` does in code, which can name other tables "
        "too. None by default.",
    )
    database_url: str | None = setting(
        TextKind(),
        None,
        "The database with your application's tables, for groups that this section installs. Unset "
        "means `database.url`.",
        url=True,
    )
    site_url: str | None = setting(
        AddressKind("https", "http"),
        None,
        "The public address of your site, for `sitemap.generate`: addresses in the sitemap begin with "
        "it. Unset means that the job fails.",
    )
    sitemap_directory: str = setting(
        TextKind(),
        "public",
        "Where `sitemap.generate` writes sitemap.xml: the directory that your web server serves as "
        "the root of the site.",
    )
    sitemap_items_per_file: int = setting(
        IntegerKind(1, 50_000), 1000, "The most addresses in one file of the sitemap."
    )
    indexnow_enabled: bool = setting(
        BooleanKind(), False, "Whether `sitemap.indexnow` tells search engines of a new sitemap."
    )
    indexnow_api_key: str | None = setting(
        TextKind(shortest=8),
        None,
        "The key that your site proves itself with to IndexNow. Unset means that nothing is submitted.",
        secret=True,
    )
    indexnow_endpoint: str = setting(
        AddressKind("https", "http"),
        "https://api.indexnow.org/indexnow",
        "Where `sitemap.indexnow` posts.",
    )
    http_networks: tuple[str, ...] = setting(
        ListKind(NetworkKind()),
        (),
        "Networks that library jobs may send requests to although they are private. None by default.",
    )
    log_directory: str = setting(
        TextKind(),
        "logs",
        "Where your application's log files are, for `logs.cleanup`.",
    )
    cache_directory: str = setting(
        TextKind(),
        "cache",
        "Where your application's file cache is, for `cache.clear` and `cache.clearExpired`.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsTree:
    """All settings, top level first, then by section."""

    modules: tuple[str, ...] = setting(
        ListKind(TextKind()),
        (),
        "Modules or files that declare jobs; workers and the command line import them.",
    )
    timeout_seconds: float = setting(
        NumberKind(0.1, _YEAR),
        300.0,
        "How long an attempt may take, unless its definition says otherwise.",
    )
    command_timeout_seconds: float = setting(
        NumberKind(0.1, _YEAR), 3600.0, "The same for definitions that run a command."
    )
    command_run_as: str | None = setting(
        TextKind(),
        None,
        "The user that commands run as, unless they say otherwise: a name, a uid or uid:gid. The "
        "worker has to run as root. Unset means the worker's own user.",
    )
    retention_days: float | None = setting(
        NumberKind(0, 36_500),
        30.0,
        "How long ended jobs are kept. 0 deletes completed and canceled jobs as they end; "
        "dead-lettered ones then stay for 30 days.",
        words=_FOREVER,
    )
    log_retention_days: float | None = setting(
        NumberKind(0, 36_500), 7.0, "How long the logs of jobs are kept.", words=_FOREVER
    )
    retention_count: int | None = setting(
        IntegerKind(1, 1_000_000_000),
        None,
        "Ended jobs to keep per definition, the newest. Unset means all.",
    )
    database: DatabaseSettings = field(default_factory=DatabaseSettings)
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    scheduler: SchedulerSettings = field(default_factory=SchedulerSettings)
    backoff: BackoffSettings = field(default_factory=BackoffSettings)
    log: LogSettings = field(default_factory=LogSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    redaction: RedactionSettings = field(default_factory=RedactionSettings)
    encryption: EncryptionSettings = field(default_factory=EncryptionSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    alerts: AlertSettings = field(default_factory=AlertSettings)
    library: LibrarySettings = field(default_factory=LibrarySettings)
    #: By key, as the file declares them.
    commands: Mapping[str, CommandSettings] = field(
        default_factory=lambda: MappingProxyType({}), hash=False
    )


#: The sections by name, in the order of the file.
SECTIONS = {
    "database": DatabaseSettings,
    "worker": WorkerSettings,
    "scheduler": SchedulerSettings,
    "backoff": BackoffSettings,
    "log": LogSettings,
    "limits": LimitSettings,
    "redaction": RedactionSettings,
    "encryption": EncryptionSettings,
    "server": ServerSettings,
    "audit": AuditSettings,
    "alerts": AlertSettings,
    "library": LibrarySettings,
}
