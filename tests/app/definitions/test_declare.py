"""Functions become definitions: the options and the refusals of `@wl.job`."""

import inspect
from datetime import timedelta
from functools import partial

import pytest

import windlass
from windlass import Backoff, JobContext, Settings, Windlass, cron, sync
from windlass.core.definitions.definition import FOREVER
from windlass.errors import DefinitionInvalid, OptionInvalid, ScheduleInvalid


@pytest.fixture
def app():
    return Windlass("sqlite:///never-opened.db", settings=Settings())


def test_the_public_names_are_fixed():
    assert sorted(windlass.__all__) == [
        "Backoff",
        "Event",
        "Job",
        "JobCanceled",
        "JobContext",
        "JobFailed",
        "Permanent",
        "Receipt",
        "Retry",
        "Settings",
        "Snooze",
        "Stopped",
        "Trigger",
        "WaitTimeout",
        "Windlass",
        "WindlassError",
        "cron",
        "every",
        "init",
        "once",
    ]
    assert all(hasattr(windlass, name) for name in windlass.__all__)


def test_a_declared_function_can_still_be_called(app):
    @app.job
    def hello(name: str) -> str:
        """Greets."""
        return f"Hello, {name}!"

    assert hello("Ada") == "Hello, Ada!"
    assert (hello.__name__, hello.__doc__) == ("hello", "Greets.")
    assert list(inspect.signature(hello).parameters) == ["name"]
    assert repr(hello) == "<job hello>"


def test_the_key_defaults_to_the_functions_name(app):
    @app.job("mail.send")
    def send() -> None: ...

    @app.job(queue="mail")
    async def receive() -> None: ...

    @app.job()
    def sort() -> None: ...

    assert (send.key, receive.key, sort.key) == ("mail.send", "receive", "sort")
    assert list(app.handlers) == ["mail.send", "receive", "sort"]


def test_every_declared_option_is_in_the_definition(app):
    @app.job(
        "mail.send",
        title="Send mail",
        description="Sends one.",
        queue="mail",
        priority="high",
        max_attempts=5,
        backoff=Backoff.fixed("3s"),
        timeout="30s",
        isolation="thread",
        max_concurrency=2,
        permanent=[LookupError],
        default_payload={"to": "ada"},
        tags=["billing"],
        system=True,
        idempotent=True,
        requires_permission="mail",
        dedupe="payload",
        dedupe_window="2m",
        on_duplicate="error",
        on_parent_failure="run",
        retention_days=0,
        log_retention_days="forever",
        retention_count=10,
    )
    def send(to: str) -> None: ...

    created = send.handler.definition
    assert (created.title, created.description, created.queue) == (
        "Send mail",
        "Sends one.",
        "mail",
    )
    assert (created.priority, created.max_attempts, created.timeout_seconds) == (50, 5, 30)
    assert (created.max_concurrency, created.tags, created.system) == (2, ("billing",), True)
    assert (created.idempotent, created.requires_permission) == (True, "mail")
    assert (created.dedupe, created.dedupe_window_seconds) == ("payload", 120)
    assert (created.on_duplicate, created.on_parent_failure) == ("error", "run")
    assert (created.retention_days, created.log_retention_days) == (0, FOREVER)
    assert (created.retention_count, created.default_payload) == (10, '{"to":"ada"}')
    assert send.handler.backoff == Backoff.fixed("3s")
    assert send.handler.permanent == (LookupError,)


def test_omitted_options_come_from_the_settings():
    settings = Settings.load(
        {"worker.max_attempts": 7, "timeout_seconds": 12, "backoff.base_seconds": 2}, environ={}
    )
    app = Windlass("sqlite:///never-opened.db", settings=settings)

    @app.job
    def hello() -> None:
        """Greets."""

    assert hello.handler.definition.max_attempts == 7
    assert hello.handler.definition.description == "Greets."
    assert hello.handler.timeout == timedelta(seconds=12)
    assert hello.handler.backoff.base == 2


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"max_attempts": 0}, "max_attempts is 0"),
        ({"max_attempts": True}, "max_attempts is True"),
        ({"max_concurrency": 0}, "max_concurrency is 0"),
        ({"isolation": "fiber"}, "isolation is 'fiber'"),
        ({"isolation": "process", "memory_limit_mb": 31}, "memory_limit_mb is 31"),
        ({"memory_limit_mb": 512}, "which only a process can enforce"),
        ({"timeout": "0s"}, "timeout is '0s'"),
        ({"retention_days": -1}, "retention_days is -1"),
        ({"retention_days": "ever"}, "retention_days is 'ever'"),
        ({"retention_count": 0}, "retention_count is 0"),
        ({"on_duplicate": "shrug"}, "on_duplicate is 'shrug'"),
        ({"on_parent_failure": "cry"}, "on_parent_failure is 'cry'"),
        ({"dedupe": "key"}, "dedupe is 'key'"),
        ({"permanent": [3]}, "permanent is [3]"),
        ({"tags": "billing"}, "tags is 'billing'"),
        ({"backoff": "5s"}, "backoff is '5s'"),
        ({"default_payload": [1]}, "default_payload is [1]"),
        ({"schedul": "daily"}, "'schedul' is no option of a job"),
    ],
)
def test_an_invalid_declaration_is_refused_at_once(app, said, problem):
    with pytest.raises(DefinitionInvalid, match="cannot work") as caught:
        app.job("work", **said)(lambda: None)

    assert problem.lower() in caught.value.reason.lower()
    assert caught.value.hint


@pytest.mark.parametrize(
    "said", [{"queue": ""}, {"priority": "asap"}, {"timeout": "soon"}, {"dedupe_window": -1}]
)
def test_shared_options_are_refused_with_the_same_message(app, said):
    with pytest.raises(OptionInvalid):
        app.job("plain", **said)(lambda: None)


def test_a_function_with_unnamed_or_untyped_arguments_is_refused(app):
    with pytest.raises(DefinitionInvalid, match=r"\*names"):

        @app.job
        def hello(*names: str) -> None: ...

    with pytest.raises(DefinitionInvalid, match="no type hint"):

        @app.job
        def bye(name) -> None: ...


def test_a_generator_is_refused(app):
    with pytest.raises(DefinitionInvalid, match="generator"):

        @app.job
        def hello():
            yield 1


def test_a_process_isolated_handler_must_be_importable(app):
    with pytest.raises(DefinitionInvalid, match="nested in another function"):

        @app.job(isolation="process")
        def hello() -> None: ...


def test_two_functions_cannot_share_a_key(app):
    @app.job("hello")
    def one() -> None: ...

    with pytest.raises(DefinitionInvalid, match="declared twice"):

        @app.job("hello")
        def two() -> None: ...


def test_a_function_may_be_declared_again(app):
    def hello() -> None: ...

    app.job(hello)
    again = app.job(max_attempts=9)(hello)

    assert app.handlers["hello"] is again.handler


def test_a_callable_without_a_name_needs_a_key(app):
    def add(a: int, b: int) -> int:
        return a + b

    with pytest.raises(DefinitionInvalid, match="A partial has no name to be its key"):
        app.job(partial(add, b=1))

    assert app.job("add")(partial(add, b=1)).key == "add"


def test_the_context_parameter_may_have_any_name_and_position(app):
    @app.job
    def hello(name: str, *, about: JobContext | None = None) -> None: ...

    assert hello.handler.payload.signature.context == "about"
    assert list(hello.handler.payload.schema["properties"]) == ["name"]


def test_async_and_blocking_apps_declare_equal_definitions(app):
    @app.job(queue="mail", max_attempts=2)
    def hello(name: str) -> None: ...

    blocking = sync.Windlass("sqlite:///never-opened.db", settings=Settings())

    @blocking.job(queue="mail", max_attempts=2)
    def hello_too(name: str) -> None: ...

    from_blocking = blocking.job("hello", queue="mail", max_attempts=2)(hello.__wrapped__)
    assert from_blocking.handler.definition == hello.handler.definition
    assert hello_too.key == "hello_too"


def greet(full: bool = False) -> None:
    """A handler."""


def test_a_string_schedule_is_a_cron_expression(app):
    [trigger] = app.job(schedule="0 2 * * *")(greet).handler.triggers

    assert (trigger.schedule, trigger.name_for("greet")) == (cron("0 2 * * *"), "greet")


def test_a_job_has_several_schedules_each_with_a_name_a_payload_and_a_zone(app):
    weekly = cron("0 9 * * 1", tz="Asia/Tokyo", name="weekly", payload={"full": True})

    daily, whole = app.job("report", schedule=["@daily", weekly])(greet).handler.triggers

    assert (daily.name_for("report"), daily.payload) == ("report", {})
    assert (whole.name_for("report"), whole.payload) == ("weekly", {"full": True})
    assert whole.schedule == cron("0 9 * * 1", tz="Asia/Tokyo")


@pytest.mark.parametrize(
    ("schedule", "error"),
    [
        ("61 * * * *", ScheduleInvalid),
        (["@daily", "@hourly"], DefinitionInvalid),
        (15, DefinitionInvalid),
        ([None], DefinitionInvalid),
    ],
)
def test_an_invalid_schedule_is_refused_at_declaration(app, schedule, error):
    with pytest.raises(error, match="greet"):
        app.job(schedule=schedule)(greet)
