"""Errors: codes, messages, hints, and their display."""

import errno
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass import errors
from windlass.errors import (
    AddressRefused,
    AmbiguousId,
    AppNotFound,
    ArgumentRefused,
    AuditKeyInvalid,
    AuditKeyMissing,
    BatchRefused,
    CommandInvalid,
    CommandTemplateInvalid,
    ConditionInvalid,
    ConfirmationNeeded,
    CrossSiteRefused,
    DatabaseAccessDenied,
    DatabaseDamaged,
    DatabaseFull,
    DatabaseNotFound,
    DatabaseNotReady,
    DatabaseReadOnly,
    DatabaseTimeout,
    DatabaseUnreachable,
    DeadGroupNotFound,
    DefinitionDisabled,
    DefinitionExists,
    DefinitionInUse,
    DefinitionInvalid,
    DefinitionNotFound,
    DirectoryMissing,
    DuplicateJob,
    EncryptionKeyInvalid,
    EpochChanged,
    EventChainTooLong,
    EventNotFound,
    ExtraMissing,
    FieldError,
    FilterInvalid,
    Forbidden,
    HttpFailed,
    IdInvalid,
    InvitationInvalid,
    JobCanceled,
    JobFailed,
    JobNotFound,
    JobRejected,
    JobStateConflict,
    JobVerbUnknown,
    KeyInUse,
    KeyReused,
    LinkInvalid,
    LoginFailed,
    LoginThrottled,
    MainGuardMissing,
    MemberExists,
    MemberNotFound,
    MethodRefused,
    MigrationChanged,
    ModuleNotLoaded,
    NotAuthenticated,
    OnceUnavailable,
    OpenAccessRefused,
    OperationNotFound,
    OperationStateConflict,
    OperationTooLarge,
    OptionInvalid,
    ParentInvalid,
    PathUnknown,
    PayloadInvalid,
    PayloadKeyMissing,
    PayloadTooLarge,
    PayloadUndecryptable,
    PayloadUnstorable,
    Permanent,
    PortUnavailable,
    RequestInvalid,
    RequestRefused,
    RequestsThrottled,
    ResultInvalid,
    ResultMismatch,
    ResultTooLarge,
    RowSecurityUnavailable,
    RunAsUnavailable,
    ScheduleInvalid,
    ScheduleNeverFires,
    SchemaOutdated,
    SchemaTooNew,
    ServerDraining,
    ServerFailed,
    ServerUnreachable,
    SessionNotFound,
    SettingMissing,
    SettingProblem,
    SettingsInvalid,
    SourceUnsupported,
    Stopped,
    StreamsFull,
    SuperadminByInvitation,
    TableMissing,
    TemplateFailed,
    TemplateInvalid,
    TemplateMissing,
    TenantExists,
    TenantNeeded,
    TenantNotFound,
    TenantReserved,
    TenantSuspended,
    TokenNotFound,
    TransactionUnsupported,
    TriggerExists,
    TriggerFieldsMixed,
    TriggerNotFound,
    TriggerRightGone,
    TriggerUnreadable,
    UnsupportedDatabase,
    UserExists,
    UserNotFound,
    WaitTimeout,
    WindlassError,
    WorkerGone,
    WorkerNotFound,
    WorkerStopping,
    ZoneUnknown,
    by_code,
)
from windlass.errors.wording import address, json_pointer, listed, nearest, quoted, sentence
from windlass.ids import new_job_id, parse_job_id, short

JOB = parse_job_id("01890a5d-ac96-774b-bcce-b3028c1f42d7")

EXAMPLES = [
    DatabaseUnreachable(
        "postgresql://u:p@db.internal/x", cause="Connection refused", tries=3, seconds=6
    ),
    DatabaseFull("sqlite:///windlass.db", cause="database or disk is full"),
    PortUnavailable("127.0.0.1", 8787, cause=OSError(errno.EADDRINUSE, "Address in use")),
    DatabaseReadOnly("mysql://u:p@db/x", cause="The server runs with read_only"),
    DatabaseAccessDenied("postgresql://u:p@db/x", cause="Password authentication failed"),
    DatabaseDamaged("sqlite:///windlass.db", cause="Database disk image is malformed"),
    DatabaseNotReady("postgresql://u:p@db/x", cause="The database system is starting up"),
    DatabaseTimeout("claim jobs", seconds=5),
    UnsupportedDatabase("oracle"),
    RowSecurityUnavailable("only PostgreSQL has it"),
    AuditKeyMissing("acme"),
    AuditKeyInvalid("no key is set"),
    RunAsUnavailable("nobody", "only root may change the user"),
    UnsupportedDatabase("mysql", missing="PyMySQL", extra="mysql"),
    ExtraMissing("opentelemetry-api", extra="otel", what="tracing"),
    EncryptionKeyInvalid("/etc/windlass.key", because="it cannot be read"),
    PayloadKeyMissing("mail.send", key_id="1f2e3d4c", known=["5a6b7c8d"]),
    PayloadUndecryptable("mail.send", key_id="1f2e3d4c"),
    DatabaseNotFound("sqlite:///windlass.db"),
    SchemaOutdated(7, 9),
    SchemaTooNew(9, 7),
    EpochChanged(),
    MigrationChanged("0001_first", applied="a" * 64, installed="b" * 64),
    SettingsInvalid([SettingProblem("worker.lease_seconds", "0", "1 to 3600", "argument")]),
    ModuleNotLoaded("jobs.py", cause="No module named 'requests'"),
    AppNotFound(["jobs.py"]),
    AppNotFound([]),
    MainGuardMissing("script.py"),
    ServerDraining(),
    OnceUnavailable("a process-isolated handler has no way to ask"),
    ResultInvalid("/of/s", "is of type slice, which JSON does not know"),
    ResultTooLarge(size=300_000, limit=262_144),
    CommandInvalid('no command named "jbos".'),
    ConfirmationNeeded("canceling 3 jobs"),
    PayloadInvalid("mail.send", [FieldError("/to", "required")]),
    BatchRefused({1: DefinitionNotFound("mail.sned", known=["mail.send"])}),
    PayloadTooLarge("mail.send", size=300_000, limit=262_144),
    PayloadUnstorable("has a NUL character", pointer="/a/0"),
    IdInvalid("zz", noun="job"),
    OptionInvalid("priority", "urgent", allowed="a whole number"),
    FilterInvalid("stat", "there is no such field", at=6, hint="Did you mean `state`?"),
    DefinitionNotFound("mial.send", known=["mail.send"]),
    DefinitionDisabled("mail.send"),
    DefinitionExists("mail.send"),
    DefinitionInUse("mail.send"),
    RequestInvalid([FieldError("/colour", "Extra inputs are not permitted")]),
    PathUnknown("/api/v1/jbos"),
    MethodRefused("PUT", "/api/v1/jobs", allowed="GET, POST"),
    NotAuthenticated(),
    Forbidden("jobs.cancel"),
    ServerFailed(),
    StreamsFull("the tenant acme", most=200),
    OpenAccessRefused("its Host is no loopback name"),
    CrossSiteRefused(),
    KeyReused("k-1"),
    KeyInUse("k-1"),
    RequestsThrottled("this token", per_minute=60, retry_seconds=1),
    ServerUnreachable("http://jobs.example.com", cause="Connection refused"),
    RequestRefused(422, said="the request cannot be read"),
    DefinitionInvalid("mail.send", "`*args` has no names"),
    JobVerbUnknown("delay", ours="`.enqueue(…)`"),
    TenantNotFound("acme"),
    TenantSuspended("acme"),
    JobNotFound(JOB),
    JobNotFound("8c1f42d7"),
    JobStateConflict(JOB, verb="cancel", state="completed"),
    AmbiguousId("8c1f42", [JOB, new_job_id()]),
    DuplicateJob(JOB, because="dedupe_key"),
    ParentInvalid(JOB, because="unknown"),
    DeadGroupNotFound("mail.send", "9f86d081"),
    ParentInvalid(JOB, because="cycle"),
    JobFailed(JOB, state="dead_letter", error_type="ValueError", error="no such thing"),
    JobCanceled(JOB, error="no longer needed"),
    JobRejected(JOB, because="100 jobs are open"),
    ResultMismatch(JOB, "Input should be a valid integer", pointer="/total"),
    WaitTimeout(JOB, seconds=60, state="queued"),
    WorkerNotFound("web-2:411"),
    WorkerGone("web-2:411:8c1f42d7"),
    WorkerStopping("web-2:411:8c1f42d7", verb="resume"),
    TransactionUnsupported("Cursor"),
    CommandTemplateInvalid("sync", [FieldError("/argv/1", "is not text")]),
    ArgumentRefused("sync", "has a NUL character", pointer="/path"),
    TemplateInvalid([FieldError("/path", '"{{" is no placeholder')]),
    TemplateMissing(["event.path"], [FieldError("/path", "there is no event.path")]),
    TemplateFailed("event.a is a list, which cannot stand within a text", pointer="/a"),
    ConditionInvalid([FieldError("/a/in", "takes a list")]),
    TriggerNotFound("nightly"),
    TriggerExists("nightly", tenant="acme"),
    TriggerFieldsMixed("cron", {"at": "type once"}),
    TriggerUnreadable("nightly", ["payload"]),
    TriggerRightGone("nightly", saved_by="user:1", because="the permission payroll.run is gone"),
    EventChainTooLong("folder.changed", most=16),
    EventNotFound("01990000-0000-7000-8000-000000000000"),
    ScheduleInvalid("61 * * * *", "there is no minute 61", allowed="0 to 59", field="minute"),
    ScheduleNeverFires(
        "0 2 31 2 *", months=["February"], day=31, last=29, example="0 2 28 2 *", tz="UTC"
    ),
    ZoneUnknown("Europe/Berln", known=["Europe/Berlin"]),
    Forbidden("jobs.cancel"),
    Forbidden("anything", because="no tenant was given to it"),
    LoginFailed(),
    LoginThrottled(retry_after_seconds=90),
    LinkInvalid(),
    TenantNeeded(["acme", "globex"]),
    UserNotFound("ada"),
    UserExists("ada"),
    InvitationInvalid(),
    MemberExists("ada", tenant="acme"),
    SuperadminByInvitation("ada"),
    TenantExists("acme"),
    TenantExists("acme", deleted=True),
    TenantReserved("system"),
    MemberNotFound("ada", tenant="acme"),
    TokenNotFound("8c1f42d7"),
    SessionNotFound("8c1f42d7"),
    OperationNotFound("8c1f42d7"),
    OperationTooLarge(most=100_000),
    OperationStateConflict("8c1f42d7", verb="stopped", because="it has ended"),
    TableMissing("sessions"),
    TableMissing("sessions", column="expires_at"),
    DirectoryMissing("logs", problem="it does not exist", setting="library.log_directory"),
    SourceUnsupported("AsyncEngine"),
    AddressRefused("intranet", because="10.0.0.1 is no public address"),
    HttpFailed("api.indexnow.org", problem="it answered with status 503"),
    SettingMissing("library.site_url", needed_by="sitemap.generate"),
]


def test_every_error_has_a_unique_code():
    kinds = [kind for name in errors.__all__ if isinstance(kind := getattr(errors, name), type)]
    # DatabaseOutage is the parent of errors with codes, and is never raised itself.
    codes = [
        kind.code
        for kind in kinds
        if issubclass(kind, WindlassError) and kind is not errors.DatabaseOutage
    ]

    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"WL\d{4}", code) for code in codes)
    assert set(codes) == set(by_code())


def test_the_tree_in_the_docstring_lists_every_error():
    drawn = dict(re.findall(r"(WL\d{4}) (\w+)", errors.__doc__))

    assert drawn == {
        code: kind.__name__ for code, kind in by_code().items() if kind is not WindlassError
    }


def test_every_error_has_an_example():
    assert {type(error) for error in EXAMPLES} == set(by_code().values()) - {WindlassError}


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_every_error_has_a_message_and_a_hint_in_full_sentences(error):
    assert error.message.endswith(".")
    assert error.hint
    assert not error.reason or error.reason.endswith((".", "…")) or isinstance(error, JobFailed)
    assert str(error) == " ".join(filter(None, [error.message, error.reason, error.hint]))
    assert type(error).__doc__


def rendered(error):
    """All that an error holds, that of the errors within it too."""
    within = getattr(error, "refused", {})
    return {**vars(error), "refused": {place: rendered(each) for place, each in within.items()}}


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_every_error_can_be_pickled(error):
    error.add_note("seen in a child")

    copy = pickle.loads(pickle.dumps(error))

    assert type(copy) is type(error)
    assert rendered(copy) == rendered(error)
    assert str(copy) == str(error)


def test_an_unreachable_database_reads_as_documented():
    error = EXAMPLES[0]

    assert error.message == "cannot reach the database at db.internal:5432."
    assert error.reason == "Connection refused after 3 tries in 6 s."
    assert "WINDLASS_DATABASE_URL" in error.hint


def test_an_outdated_schema_reads_as_documented():
    error = SchemaOutdated(7, 9)

    assert error.message == "the database schema is at version 7, this Windlass needs 9."
    assert error.reason == "2 migrations are pending."
    assert SchemaOutdated(8, 9).reason == "1 migration is pending."


def test_an_invalid_payload_reads_as_documented():
    error = PayloadInvalid(
        "mail.send",
        [FieldError("/to", '"ada@" is not an email address'), FieldError("/locale", "required")],
    )

    assert error.message == 'payload for "mail.send" is not valid.'
    assert error.reason == '/to: "ada@" is not an email address; /locale: required.'
    assert error.hint == "Fix these 2 fields; schema: `windlass definitions schema mail.send`."
    assert [part.pointer for part in error.errors] == ["/to", "/locale"]


def test_an_unknown_definition_suggests_the_nearest():
    error = DefinitionNotFound("mial.send", known=["mail.send", "mail.read", "resize"])

    assert error.message == 'no definition named "mial.send".'
    assert error.reason == "3 definitions are known."
    assert error.hint.startswith("Did you mean `mail.send`?")
    assert DefinitionNotFound("zzz", known=["mail.send"]).near is None


def test_a_state_conflict_reads_as_documented():
    error = JobStateConflict(
        JOB,
        verb="cancel",
        state="completed",
        since="4 s",
        allowed={"running", "pending", "queued"},
    )

    assert error.message == "job 8c1f42d7 cannot be canceled: it completed 4 s ago."
    assert error.reason == "Only pending, queued and running jobs can be."
    assert "windlass jobs clone 8c1f42d7" in error.hint


def test_a_missing_driver_comes_with_the_install_command():
    error = UnsupportedDatabase("mysql", missing="PyMySQL", extra="mysql")

    assert error.hint == 'pip install "windlass[mysql]"'


def test_all_invalid_settings_are_reported_at_once():
    error = SettingsInvalid(
        [
            SettingProblem("worker.lease_seconds", "0", "1 to 3600", "argument"),
            SettingProblem("nonsense", "…", "no such setting", "windlass.toml"),
        ]
    )

    assert error.message == "2 settings cannot be used."
    assert "worker.lease_seconds = 0 (argument): 1 to 3600" in error.reason
    assert "nonsense" in error.reason
    assert error.errors[0].pointer == "/worker/lease_seconds"


def test_a_failed_job_shows_the_first_line_and_keeps_the_full_error():
    error = JobFailed(JOB, state="dead_letter", error_type="ValueError", error="one\ntwo")

    assert error.message == f"job {short(JOB)} was dead-lettered."
    assert error.reason == "ValueError: one"
    assert error.error == "one\ntwo"
    assert JobFailed(JOB, state="canceled").reason == ""


def test_errors_raised_by_handlers_are_not_windlass_errors():
    assert not issubclass(Permanent, WindlassError)
    assert not issubclass(Stopped, WindlassError)
    assert Stopped("timed_out").because == "timed_out"
    assert pickle.loads(pickle.dumps(Stopped("lost"))).because == "lost"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:p@db.internal:6000/x", "db.internal:6000"),
        ("postgresql://u:p@db.internal/x", "db.internal:5432"),
        ("postgresql+asyncpg://u:p@db/x", "db:5432"),
        ("mysql://u:p@h", "h:3306"),
        ("mariadb://h/x", "h:3306"),
        ("postgresql://u:hunter2/hunter3@h/x", "h:5432"),
        ("postgresql://u:hunter2@hunter3@h/x", "h:5432"),
        ("postgresql://u:hunter2?hunter3@h/x", "the configured address"),
        ("postgresql://h/x?password=hunter2", "h:5432"),
        ("postgresql://h/x?password=hun@ter2", "the configured address"),
        ("postgresql://u:p@[::1]:5432/x", "[::1]:5432"),
        ("postgresql://u:p@[::1]/x", "[::1]:5432"),
        ("postgresql://a:1,b:2/x", "a:1,b:2"),
        ("postgresql:///x?host=/run", "the configured address"),
        ("sqlite:///windlass.db", "windlass.db"),
        ("sqlite:////var/lib/windlass.db", "/var/lib/windlass.db"),
        ("sqlite://", "memory"),
        ("hunter2", "the configured address"),
    ],
)
def test_an_address_shows_host_and_port_and_no_credentials(url, shown):
    assert address(url) == shown


@given(st.text(min_size=8).filter(lambda text: not set(text) & set("/?@#")))
def test_a_password_never_appears_in_a_message(password):
    error = DatabaseUnreachable(f"postgresql://user:{password}@host/name")

    assert error.address == "host:5432"


@given(st.text())
def test_any_value_can_be_quoted_and_printed(text):
    assert len(quoted(text).encode()) < 1000
    assert quoted("\ud800") == '"\\ud800"'
    assert len(quoted("x" * 1000)) < 90


@given(st.lists(st.text() | st.integers(0)))
def test_a_pointer_has_a_step_for_each_part(path):
    pointer = json_pointer(path)
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]

    if not any("\ud800" <= character <= "\udfff" for step in path for character in str(step)):
        assert steps == [str(step) for step in path]


def test_words_are_joined_with_commas_and_or():
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert sentence("it works") == "It works."
    assert sentence("Really?") == "Really?"
    assert nearest("leese_seconds", ["lease_seconds", "queue"]) == "lease_seconds"


def test_a_job_is_found_by_its_error():
    existing = new_job_id()

    assert DuplicateJob(existing, because="idempotency_key").existing == existing
