"""`windlass config …` and invalid settings."""

import tomllib

from tests.support.processes.shell import Shell


def test_every_value_shows_its_origin(shell: Shell):
    shell.write("windlass.toml", "[worker]\nconcurrency = 8\n")

    shown = shell.ok(
        "config", "show", "--origin", "--json", "--db", "postgresql://ada:hunter2@db/x",
        WINDLASS_WORKER_LEASE_SECONDS="7",
    )  # fmt: skip
    by_key = {one["key"]: one for one in shown.json}

    assert by_key["worker.concurrency"]["value"] == 8
    assert by_key["worker.concurrency"]["origin"].endswith("windlass.toml")
    assert "WINDLASS_WORKER_LEASE_SECONDS" in by_key["worker.lease_seconds"]["origin"]
    assert by_key["database.url"]["origin"] == "argument"
    assert by_key["worker.max_attempts"]["origin"] == "default"
    assert "hunter2" not in shown.out
    assert "worker.concurrency" in shell.at_terminal("config", "show").out


def test_a_value_is_read_and_set_with_its_type(shell: Shell):
    shell.write("windlass.toml", "# ours\n[worker]\nconcurrency = 8  # many\n")

    assert shell.ok("config", "get", "worker.concurrency").out == "8\n"
    assert shell.here("config", "get", "database.url").out == "sqlite:///windlass.db\n"
    assert shell.here("config", "get", "worker.memory_limit_mb", "--json").json["value"] is None
    shell.ok("config", "set", "worker.concurrency", "16")
    shell.ok("config", "set", "worker.enabled", "false")

    text = (shell.folder / "windlass.toml").read_text("utf-8")
    assert tomllib.loads(text) == {"worker": {"concurrency": 16, "enabled": False}}
    assert text.startswith("# ours\n")
    assert shell.ok("config", "get", "worker.concurrency", "--json").json["value"] == 16


def test_settings_in_pyproject_stay_there(shell: Shell):
    shell.write("pyproject.toml", '[project]\nname = "x"\n[tool.windlass]\nretention_days = 3\n')

    shell.ok("config", "set", "retention_days", "4")

    text = (shell.folder / "pyproject.toml").read_text("utf-8")
    assert tomllib.loads(text)["tool"]["windlass"] == {"retention_days": 4}
    assert not (shell.folder / "windlass.toml").exists()


def test_an_invalid_value_is_not_written(shell: Shell):
    range_ = shell.run("config", "set", "worker.concurrency", "0")
    name = shell.run("config", "set", "worker.concurency", "4")
    unknown = shell.run("config", "get", "worker.concurency")

    assert [range_.code, name.code, unknown.code] == [2, 2, 2]
    assert "1 to 10,000" in range_.err
    assert "did you mean worker.concurrency" in name.err
    assert "Did you mean `worker.concurrency`?" in unknown.err
    assert not (shell.folder / "windlass.toml").exists()


def test_all_problems_are_reported_at_once_and_stop_every_command(shell: Shell):
    shell.write("windlass.toml", "[worker]\nconcurrency = 0\nlease = 3\n")

    done = shell.run("jobs", "list", WINDLASS_WORKER_LEASE_SECONDS="soon")

    assert done.code == 2
    assert done.err.startswith("error[WL1301]: 3 settings cannot be used.")
    assert len(done.err.splitlines()) == 5


def test_an_error_code_is_explained(shell: Shell):
    assert "SchemaOutdated" in shell.ok("explain", "wl1203").out
    assert shell.ok("explain", "2107", "--json").json["exit_code"] == 3
    unknown = shell.run("explain", "WL9999")
    assert unknown.code == 2
    assert unknown.err.startswith("error[WL2001]")


def test_a_generated_key_can_be_used_and_is_never_shown(shell: Shell):
    key = shell.here("config", "generate-key").out.strip()

    shown = shell.ok("config", "show", "--json", WINDLASS_ENCRYPTION_KEYS=key)

    by_key = {one["key"]: one for one in shown.json}
    assert len(key) == 44
    assert key not in shown.out
    assert by_key["encryption.keys"]["value"] == "•••"
