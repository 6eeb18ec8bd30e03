"""Settings: sources, validation, masking, and the settings file."""

import os
import re
import subprocess
import sys
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.errors import SettingsInvalid
from windlass.settings import Settings, set_in_file, template
from windlass.settings.kinds import IntegerKind, InvalidSetting, ListKind, TextKind, masked_url
from windlass.settings.sources import SETTINGS, variable


def load(tmp_path, overrides=None, *, environ=None, toml=None, pyproject=None, **more):
    if toml is not None:
        (tmp_path / "windlass.toml").write_text(toml)
    if pyproject is not None:
        (tmp_path / "pyproject.toml").write_text(pyproject)
    return Settings.load(overrides or {}, environ=environ or {}, cwd=tmp_path, **more)


def problems(tmp_path, *args, **more):
    with pytest.raises(SettingsInvalid) as caught:
        load(tmp_path, *args, **more)
    return {problem.key: problem for problem in caught.value.problems}


def origin_of(settings, key):
    return next(one for one in settings.origins() if one.key == key)


def test_defaults_apply_without_configuration(tmp_path):
    settings = load(tmp_path)

    assert settings == Settings()
    assert settings.database.url == "sqlite:///windlass.db"
    assert {one.origin for one in settings.origins()} == {"default"}


@pytest.mark.parametrize(
    ("key", "default", "low", "high"),
    [
        ("worker.concurrency", 4, 1, 10_000),
        ("worker.poll_interval_ms", 1000, 100, 60_000),
        ("worker.lease_seconds", 30, 1, 3600),
        ("worker.max_attempts", 3, 1, 100),
        ("worker.shutdown_timeout_seconds", 30, 0, 3600),
        ("scheduler.tick_seconds", 15, 1, 3600),
    ],
)
def test_documented_defaults_and_ranges_apply(tmp_path, key, default, low, high):
    section, name = key.split(".")

    assert getattr(getattr(Settings(), section), name) == default
    for fine in (low, high):
        assert origin_of(load(tmp_path, {key: fine}), key).value == fine
    for wrong in (low - 1, high + 1):
        assert list(problems(tmp_path, {key: wrong})) == [key]


def test_defaults_without_a_range_apply():
    settings = Settings()

    assert (settings.worker.enabled, settings.scheduler.enabled) == (True, True)
    assert (settings.retention_days, settings.log_retention_days) == (30, 7)
    assert settings.retention_count is settings.worker.memory_limit_mb is None
    assert (settings.timeout_seconds, settings.command_timeout_seconds) == (300, 3600)
    assert (settings.log.buffer_lines, settings.log.buffer_seconds) == (100, 5)
    assert (settings.limits.payload_bytes, settings.limits.log_line_bytes) == (
        256 * 1024,
        16 * 1024,
    )
    assert settings.worker.queues is None


def test_arguments_override_environment_file_and_default(tmp_path):
    toml = "[worker]\nlease_seconds = 10\nconcurrency = 10\nmax_attempts = 10\n"
    environ = {"WINDLASS_WORKER_LEASE_SECONDS": "20", "WINDLASS_WORKER_CONCURRENCY": "20"}

    settings = load(tmp_path, {"worker.lease_seconds": 40}, environ=environ, toml=toml)

    worker = settings.worker
    assert (worker.lease_seconds, worker.concurrency, worker.max_attempts) == (40, 20, 10)
    assert worker.poll_interval_ms == 1000
    assert origin_of(settings, "worker.lease_seconds").origin == "argument"
    assert "WINDLASS_WORKER_CONCURRENCY" in origin_of(settings, "worker.concurrency").origin
    assert origin_of(settings, "worker.max_attempts").origin == str(tmp_path / "windlass.toml")
    assert origin_of(settings, "worker.poll_interval_ms").origin == "default"


def test_a_none_argument_is_ignored(tmp_path):
    environ = {"WINDLASS_WORKER_CONCURRENCY": "20"}

    assert load(tmp_path, {"worker.concurrency": None}, environ=environ).worker.concurrency == 20


def test_an_empty_variable_is_ignored(tmp_path):
    assert load(tmp_path, environ={"WINDLASS_WORKER_CONCURRENCY": " "}) == Settings()


def test_settings_may_be_in_pyproject(tmp_path):
    pyproject = "[project]\nname = 'x'\n[tool.windlass]\nretention_days = 5\n[tool.windlass.worker]\nconcurrency = 9\n"

    settings = load(tmp_path, pyproject=pyproject)

    assert (settings.retention_days, settings.worker.concurrency) == (5, 9)
    assert load(tmp_path, toml="").worker.concurrency == 4


def test_an_unrelated_pyproject_is_ignored(tmp_path):
    assert load(tmp_path, pyproject="[project]\nname = 'x'\n[tool.other]\na = 1\n") == Settings()


def test_an_explicit_file_must_exist(tmp_path):
    (tmp_path / "other.toml").write_text("[worker]\nconcurrency = 7\n")

    assert load(tmp_path, file=tmp_path / "other.toml").worker.concurrency == 7
    assert list(problems(tmp_path, file=tmp_path / "none.toml")) == [str(tmp_path / "none.toml")]


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("worker.enabled", "no", False),
        ("worker.enabled", "TRUE", True),
        ("worker.queues", "mail, media", ("mail", "media")),
        ("worker.queues", "*", None),
        ("retention_days", "forever", None),
        ("retention_days", "0.5", 0.5),
        ("retention_count", "100", 100),
        ("log_retention_days", "3", 3),
        ("modules", "jobs.py,app.jobs", ("jobs.py", "app.jobs")),
        ("backoff.kind", "fixed", "fixed"),
        ("database.schema", "jobs", "jobs"),
        ("redaction.names", "iban", ("iban",)),
        ("server.secret", "s" * 32, "s" * 32),
    ],
)
def test_variables_and_flags_are_parsed_by_type(tmp_path, key, text, value):
    assert origin_of(load(tmp_path, environ={variable(key): text}), key).value == value
    assert origin_of(load(tmp_path, {key: text}), key).value == value


def test_lists_are_written_as_lists_in_the_file(tmp_path):
    toml = 'modules = ["a"]\n[worker]\nqueues = ["*"]\n[backoff]\nkind = "list"\ndelays_seconds = [60, 300]\n'

    settings = load(tmp_path, toml=toml)

    assert settings.modules == ("a",)
    assert settings.worker.queues is None
    assert settings.backoff.delays_seconds == (60, 300)


def test_all_problems_are_reported_at_once_with_key_value_range_and_origin(tmp_path):
    found = problems(
        tmp_path,
        {"worker.lease_seconds": 0},
        environ={"WINDLASS_WORKER_CONCURRENCY": "many", "WINDLASS_WORKER_CONCURENCY": "3"},
        toml="retenton_days = 4\n[worker]\nenabled = 'yes'\nleese_seconds = 3\n[wroker]\na = 1\n",
    )

    assert set(found) == {
        "worker.lease_seconds",
        "worker.concurrency",
        "WINDLASS_WORKER_CONCURENCY",
        "retenton_days",
        "worker.enabled",
        "worker.leese_seconds",
        "wroker",
    }
    assert found["worker.lease_seconds"].value == "0"
    assert "from 1 to 3,600" in found["worker.lease_seconds"].allowed
    assert found["worker.lease_seconds"].origin == "argument"
    assert found["worker.concurrency"].value == "'many'"
    assert (
        "did you mean WINDLASS_WORKER_CONCURRENCY?" in found["WINDLASS_WORKER_CONCURENCY"].allowed
    )
    assert "did you mean retention_days?" in found["retenton_days"].allowed
    assert "did you mean worker.lease_seconds?" in found["worker.leese_seconds"].allowed
    assert str(tmp_path) in found["worker.enabled"].origin


@pytest.mark.parametrize(
    "toml",
    [
        "[worker]\nconcurrency = '4'",
        "[worker]\nconcurrency = true",
        "[worker]\nconcurrency = 4.0",
        "[worker]\nenabled = 1",
        "[worker]\nqueues = 'mail'",
        "[worker]\nqueues = [1]",
        "[worker]\nqueues = ['']",
        "[database]\nurl = ''",
        "[backoff]\nkind = 'linear'",
        "[backoff]\nfactor = nan",
        "[log]\nbuffer_seconds = inf",
        "retention_days = 'for ever'",
        "retention_days = -1",
        "worker = 5",
        "[limits]\npayload_bytes = 262145",
        "[server]\nsecret = 'short'",
    ],
)
def test_a_value_of_the_wrong_type_or_range_is_a_problem(tmp_path, toml):
    assert len(problems(tmp_path, toml=toml)) == 1


def test_contradicting_values_are_a_problem(tmp_path):
    assert list(problems(tmp_path, {"backoff.kind": "list"})) == ["backoff.delays_seconds"]
    assert list(problems(tmp_path, {"backoff.base_seconds": 600})) == ["backoff.cap_seconds"]
    assert load(tmp_path, {"backoff.kind": "fixed", "backoff.base_seconds": 600})


def test_a_broken_file_is_reported_with_the_other_problems(tmp_path):
    found = problems(tmp_path, {"worker.lease_seconds": 0}, toml="[worker\n")

    assert set(found) == {str(tmp_path / "windlass.toml"), "worker.lease_seconds"}


def test_unrelated_variables_are_ignored(tmp_path):
    environ = {
        "WINDLASS_TEST_POSTGRES": "x",
        "WINDLASS_UI": "skip",
        "WINDLASS_OUTPUT": "json",
        "HOME": "/",
    }

    assert load(tmp_path, environ=environ) == Settings()


def test_every_setting_has_its_own_variable():
    assert len({variable(key) for key in SETTINGS}) == len(SETTINGS)
    assert variable("worker.lease_seconds") == "WINDLASS_WORKER_LEASE_SECONDS"


def test_every_setting_is_documented_and_its_default_is_allowed():
    for key, setting in SETTINGS.items():
        assert setting.doc.endswith("."), key
        assert setting.default is None or setting.check(setting.default) == setting.default, key


def test_secrets_are_masked_in_every_display(tmp_path):
    values = {
        "database.url": "postgresql://ada:hunter2@db/x?sslpassword=hunter3",
        "database.listen_url": "postgresql://ada:hunter4@db:6000/x",
        "server.secret": "hunter5" * 10,
    }

    settings = load(tmp_path, values)

    assert "hunter" not in repr(settings)
    shown = {one.key: one.shown for one in settings.origins()}
    assert "hunter" not in str(shown)
    assert shown["database.url"] == '"postgresql://•••@db:5432/x"'
    assert shown["server.secret"] == "•••"
    assert shown["worker.lease_seconds"] == "30"
    assert shown["worker.health_port"] == "unset"


def test_secrets_are_masked_in_problems(tmp_path):
    environ = {
        "WINDLASS_SERVER_SECRET": "hunter2",
        "WINDLASS_DATABASE_ULR": "postgresql://a:hunter3@h",
    }

    with pytest.raises(SettingsInvalid) as caught:
        load(
            tmp_path,
            environ=environ,
            toml='[database]\nurll = "mysql://a:hunter4@h"\nurl = ["hunter5"]\n',
        )

    assert "hunter" not in str(caught.value)
    assert len(caught.value.problems) == 4


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///windlass.db", "sqlite:///windlass.db"),
        ("sqlite:////var/x.db", "sqlite:////var/x.db"),
        ("mysql://a:b@h:1/x", "mysql://•••@h:1/x"),
        ("postgresql://h/x", "postgresql://h:5432/x"),
        ("postgresql://h", "postgresql://h:5432"),
        ("hunter2", "•••"),
    ],
)
def test_a_url_is_shown_without_credentials(url, shown):
    assert masked_url(url) == shown


def test_settings_are_frozen():
    with pytest.raises(AttributeError):
        Settings().worker.concurrency = 5  # type: ignore[misc]


class TestTemplate:
    def test_the_unedited_template_changes_nothing(self, tmp_path):
        assert load(tmp_path, toml=template()) == Settings()

    def test_the_template_with_every_key_enabled_equals_the_defaults(self, tmp_path):
        switched_on = re.sub(r"^#(\w+ = )", r"\1", template(), flags=re.MULTILINE)

        assert load(tmp_path, toml=switched_on) == Settings()

    def test_the_template_names_every_setting_and_its_variable(self):
        keys = set()
        section = ""
        for line in template().splitlines():
            if found := re.match(r"\[(\w+)\]", line):
                section = f"{found[1]}."
            elif found := re.match(r"#(\w+) =", line):
                keys.add(section + found[1])

        assert keys == set(SETTINGS)
        assert all(variable(key) in template() for key in SETTINGS)

    def test_template_lines_are_short(self):
        assert max(map(len, template().splitlines())) <= 100


class TestSetInFile:
    def test_a_missing_file_is_created(self, tmp_path):
        path = tmp_path / "windlass.toml"

        set_in_file(path, "worker.lease_seconds", "60")
        set_in_file(path, "worker.enabled", "false")
        set_in_file(path, "retention_days", "forever")
        set_in_file(path, "worker.queues", "mail, media")
        set_in_file(path, "backoff.factor", "1.5")

        assert tomllib.loads(path.read_text()) == {
            "retention_days": "forever",
            "worker": {"lease_seconds": 60, "enabled": False, "queues": ["mail", "media"]},
            "backoff": {"factor": 1.5},
        }
        assert load(tmp_path).worker.lease_seconds == 60

    def test_comments_and_other_lines_are_preserved(self, tmp_path):
        path = tmp_path / "windlass.toml"
        path.write_text(
            "# ours\nmodules = [\n  'a', # one\n  'b',\n]\n\n[worker]  # slots\n"
            "lease_seconds = 30  # as the pooler wants\n\n# the end\n[log]\nbuffer_lines = 5\n"
        )

        set_in_file(path, "worker.lease_seconds", "60")
        set_in_file(path, "worker.concurrency", "8")
        set_in_file(path, "retention_count", "9")

        assert path.read_text() == (
            "# ours\nmodules = [\n  'a', # one\n  'b',\n]\nretention_count = 9\n\n[worker]  # slots\n"
            "lease_seconds = 60  # as the pooler wants\nconcurrency = 8\n\n# the end\n[log]\nbuffer_lines = 5\n"
        )

    def test_a_multi_line_list_is_replaced_completely(self, tmp_path):
        path = tmp_path / "windlass.toml"
        path.write_text("modules = [\n  'a',\n  'b',\n]\n[worker]\nconcurrency = 8\n")

        set_in_file(path, "modules", "c")

        assert path.read_text() == 'modules = ["c"]\n[worker]\nconcurrency = 8\n'

    def test_a_hash_inside_a_string_is_not_a_comment(self, tmp_path):
        path = tmp_path / "windlass.toml"
        path.write_text('[database]\nschema = "a#b"  # why # not\n')

        set_in_file(path, "database.schema", "c#d")

        assert path.read_text() == '[database]\nschema = "c#d"  # why # not\n'

    def test_a_key_is_inserted_where_the_template_documents_it(self, tmp_path):
        path = tmp_path / "windlass.toml"
        path.write_text(template())

        set_in_file(path, "worker.lease_seconds", "60")

        assert "#lease_seconds = 30\nlease_seconds = 60\n" in path.read_text()
        assert load(tmp_path).worker.lease_seconds == 60

    def test_line_endings_and_separators_are_preserved(self, tmp_path):
        path = tmp_path / "windlass.toml"
        path.write_bytes("# a\u2028b\r\n[worker]\r\nconcurrency = 8\r\n".encode())

        set_in_file(path, "worker.concurrency", "9")

        assert path.read_bytes() == "# a\u2028b\r\n[worker]\r\nconcurrency = 9\r\n".encode()

    def test_pyproject_uses_its_own_tables(self, tmp_path):
        path = tmp_path / "pyproject.toml"
        path.write_text("[project]\nname = 'x'\n\n[tool.windlass]\nmodules = ['a']\n")

        set_in_file(path, "worker.concurrency", "8")
        set_in_file(path, "retention_days", "3")

        settings = load(tmp_path)
        assert (settings.worker.concurrency, settings.retention_days, settings.modules) == (
            8,
            3,
            ("a",),
        )
        assert "name = 'x'" in path.read_text()

    @pytest.mark.parametrize(
        ("key", "text"),
        [
            ("worker.lease_seconds", "0"),
            ("worker.lease_seconds", "many"),
            ("worker.enabled", "maybe"),
            ("worker.leese_seconds", "5"),
            ("worker", "5"),
            ("backoff.kind", "linear"),
        ],
    )
    def test_invalid_values_are_not_written(self, tmp_path, key, text):
        path = tmp_path / "windlass.toml"
        path.write_text("[worker]\nlease_seconds = 30\n")

        with pytest.raises(SettingsInvalid):
            set_in_file(path, key, text)

        assert path.read_text() == "[worker]\nlease_seconds = 30\n"
        assert [one.name for one in tmp_path.iterdir()] == ["windlass.toml"]

    @pytest.mark.parametrize(
        "written",
        [
            "worker = {lease_seconds = 30}\n",
            "worker.lease_seconds = 30\n",
            '["worker"]\nlease_seconds = 30\n',
            "note = '''\n[worker]\n'''\n",
            "[worker\n",
        ],
    )
    def test_an_unusually_formatted_file_is_refused(self, tmp_path, written):
        path = tmp_path / "windlass.toml"
        path.write_text(written)

        with pytest.raises(SettingsInvalid):
            set_in_file(path, "worker.lease_seconds", "60")

        assert path.read_text() == written

    def test_a_secret_is_not_echoed(self, tmp_path):
        with pytest.raises(SettingsInvalid) as caught:
            set_in_file(tmp_path / "windlass.toml", "server.secret", "hunter2")

        assert "hunter2" not in str(caught.value)

    @given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
    def test_any_text_round_trips(self, tmp_path_factory, text):
        path = tmp_path_factory.mktemp("any") / "windlass.toml"

        try:
            set_in_file(path, "database.schema", text)
        except SettingsInvalid:
            assert not text.strip() or "\x00" in text
        else:
            assert tomllib.loads(path.read_text("utf-8"))["database"]["schema"] == text.strip()


def test_types_name_the_values_they_allow():
    assert IntegerKind(1, 3600).allowed == "a whole number from 1 to 3,600"
    assert ListKind(TextKind()).allowed == "a list, each text"
    with pytest.raises(InvalidSetting):
        SETTINGS["worker.queues"].check("mail")


def test_loading_imports_no_heavy_library():
    heavy = "import sys, windlass.settings; print('pydantic' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", heavy],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("address", ["example.com", "ftp://example.com", "http://", "http://h:x"])
def test_an_address_has_a_known_scheme_and_a_host(tmp_path, address):
    assert "alerts.webhook_url" in problems(tmp_path, {"alerts.webhook_url": address})
    good = load(tmp_path, {"alerts.webhook_url": "https://example.com/hook"})
    assert good.alerts.webhook_url == "https://example.com/hook"
