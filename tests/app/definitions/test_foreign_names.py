"""Other libraries' names get an error that names ours, row by row."""

import re
from datetime import timedelta

import pytest

import windlass
from windlass import Settings, Windlass, sync
from windlass.app.declare import JobOptions
from windlass.core.definitions.foreign_names import DEFINITION_OPTIONS, ENQUEUE_OPTIONS, JOB_VERBS
from windlass.core.jobs.options import EnqueueOptions
from windlass.errors import DefinitionInvalid, OptionInvalid, WindlassError

_OPTION = re.compile(r"\b([a-z_]+)=(?!\[?receipt)")


@pytest.fixture(params=[Windlass, sync.Windlass])
def wl(request):
    return request.param("sqlite:///never-opened.db", settings=Settings())


@pytest.fixture
def hello(wl):
    @wl.job
    def hello(name: str) -> str:
        return name

    return hello


@pytest.mark.parametrize(("name", "ours"), DEFINITION_OPTIONS.items())
def test_a_foreign_option_of_a_definition_is_refused_and_ours_named(wl, name, ours):
    with pytest.raises(DefinitionInvalid) as caught:
        wl.job("mail.send", **{name: 5})(lambda: None)

    assert f"{name!r} is no option of a job" in str(caught.value)
    assert caught.value.hint == f"Give {ours}."


@pytest.mark.parametrize(("name", "ours"), ENQUEUE_OPTIONS.items())
def test_a_foreign_option_of_an_enqueue_is_refused_and_ours_named(hello, name, ours):
    with pytest.raises(OptionInvalid) as caught:
        hello.options(**{name: 5})

    assert f'"{name}"' in caught.value.message
    assert caught.value.hint == f"Give {ours}."


@pytest.mark.parametrize(("name", "ours"), JOB_VERBS.items())
def test_a_foreign_verb_of_a_job_is_refused_and_ours_named(hello, name, ours):
    with pytest.raises(AttributeError) as caught:
        getattr(hello, name)

    assert isinstance(caught.value, WindlassError)
    assert (caught.value.message, caught.value.hint) == (f"a job has no `{name}`.", f"Use {ours}.")
    assert not hasattr(hello, name)


def test_any_other_unknown_attribute_is_an_ordinary_error(hello):
    with pytest.raises(AttributeError, match="has no attribute 'colour'"):
        _ = hello.colour


def test_no_foreign_name_hides_one_of_ours_and_every_named_option_exists(hello):
    definition, enqueue = JobOptions.__annotations__.keys(), EnqueueOptions.__annotations__.keys()

    assert not DEFINITION_OPTIONS.keys() & definition
    assert not ENQUEUE_OPTIONS.keys() & enqueue
    assert not JOB_VERBS.keys() & set(dir(hello))
    ours = " ".join([*DEFINITION_OPTIONS.values(), *ENQUEUE_OPTIONS.values(), *JOB_VERBS.values()])
    inner = {"cap", "tzinfo"}  # arguments within the values
    assert set(_OPTION.findall(ours)) <= definition | enqueue | inner
    assert all(hasattr(windlass, name) for name in ("Backoff", "Retry", "cron", "every"))


def test_a_near_name_of_ours_is_suggested(wl):
    with pytest.raises(DefinitionInvalid, match="Did you mean 'max_attempts'"):
        wl.job("mail.send", max_attemps=5)(lambda: None)


def test_expires_in_seconds_and_short_rates_are_understood(wl, hello):
    wl.job("mail.send", rate_limit="10/m")(lambda: None)

    job = hello.options(expires=3600, delay=10).make(name="Ada")

    assert (job.expires, job.delay) == (timedelta(hours=1), timedelta(seconds=10))
