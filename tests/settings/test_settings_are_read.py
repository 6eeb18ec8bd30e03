"""No dead settings: each one is read by the code, and size limits are enforced."""

import ast
from contextlib import suppress
from pathlib import Path

import pytest

import windlass
from windlass import JobContext, JobFailed, Settings, Windlass
from windlass.app.commands import CommandOptions
from windlass.core.jobs.states import JobState
from windlass.settings import CommandSettings, LimitSettings
from windlass.settings.sources import SETTINGS
from windlass.settings.tree import SECTIONS

SOURCE = Path(windlass.__file__).parent
#: What the file spells with its unit, and `wl.command(...)` without.
_SPELLED = {"timeout_seconds": "timeout", "grace_seconds": "grace"}


def _identifiers(file):
    """The attributes a file reads, and every name in it."""
    attributes, names = set(), set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.Attribute(attr=name):
                attributes.add(name)
            case ast.Name(id=name) | ast.alias(name=name):
                names.add(name)
    return attributes, names | attributes


@pytest.fixture(scope="module")
def files():
    return [
        _identifiers(file)
        for file in SOURCE.rglob("*.py")
        if not file.is_relative_to(SOURCE / "settings")
    ]


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_is_read_by_its_section(files, key):
    section, _, name = key.rpartition(".")
    of_section = {section, SECTIONS[section].__name__} if section else {"settings", "Settings"}

    assert any(name in attributes and of_section & names for attributes, names in files)


@pytest.mark.parametrize("name", CommandSettings.__dataclass_fields__)
def test_every_command_setting_is_a_command_option_in_code(name):
    assert name == "run" or _SPELLED.get(name, name) in CommandOptions.__annotations__


async def test_results_errors_and_log_lines_respect_the_size_settings(tmp_path):
    limits = LimitSettings(result_bytes=1024, error_bytes=1024, log_line_bytes=80)
    url = f"sqlite:///{tmp_path}/jobs.db"
    wl = Windlass(url, settings=Settings(limits=limits))

    @wl.job(max_attempts=1)
    def result() -> str:
        return "r" * 2000

    @wl.job(truncate_result=True)
    def truncated() -> str:
        return "t" * 2000

    @wl.job(max_attempts=1)
    def error(ctx: JobContext) -> None:
        ctx.log.info("m" * 2000, field="f" * 2000)
        raise ValueError("e" * 2000)

    async with wl.running():
        refused, cut, failed = [await _ended(wl, job) for job in (result, truncated, error)]
        [line] = await wl.jobs.logs(failed.id)

    assert refused.state is failed.state is JobState.DEAD_LETTER
    assert "has 2,002 bytes, the limit is 1,024" in refused.last_error
    assert (cut.state, cut.result["truncated"]) == (JobState.COMPLETED, True)
    assert len(failed.last_error.encode()) <= 1024 + len("ValueError: ")
    assert len(line.message.encode()) <= 80
    assert line.fields["truncated"] is True


async def _ended(wl, job):
    receipt = await job.enqueue()
    with suppress(JobFailed):
        await wl.jobs.wait(receipt.job_id, "30s")
    return await wl.jobs.get(receipt.job_id)
