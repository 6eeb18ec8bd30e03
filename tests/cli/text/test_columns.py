"""`--columns`: the fields of a list and their order."""

import pytest

from tests.support.processes.shell import Shell


@pytest.fixture
def listed(ready: Shell) -> Shell:
    ready.here("enqueue", "hello", "name=Ada", "--priority", "high")
    return ready


def test_a_program_gets_the_named_columns_in_the_given_order(listed: Shell):
    tsv = listed.here("jobs", "list", "--columns", "priority,definition").lines
    csv = listed.here("jobs", "list", "--columns", " definition , queue ", "-o", "csv").lines

    assert tsv[0] == "priority\tdefinition"
    assert tsv[1].split("\t")[1] == "hello"
    assert csv == ["definition,queue", "hello,default"]


def test_a_person_can_also_name_columns_for_programs(listed: Shell):
    shown = listed.at_terminal("jobs", "list", "--columns", "due_at,definition", width=40).out

    assert "DUE AT" in shown
    assert "DEFINITION" in shown
    assert "STATE" not in shown


def test_json_and_ids_ignore_columns(listed: Shell):
    body = listed.here("jobs", "list", "--columns", "queue", "--json").json
    (id,) = listed.here("jobs", "list", "--columns", "queue,id", "-o", "id").lines

    assert body["items"][0]["id"] == id


def test_the_environment_variable_works_like_the_flag(listed: Shell):
    assert listed.ok("jobs", "list", WINDLASS_COLUMNS="queue").lines == ["queue", "default"]


def test_an_unknown_column_is_an_error_that_lists_the_columns(listed: Shell):
    done = listed.run("jobs", "list", "--columns", "id,defintion")

    assert done.code == 2
    assert 'this list has no column "defintion".' in done.err
    assert "Did you mean `definition`?" in done.err
    assert "worker_id and last_error" in done.err


@pytest.mark.parametrize("noun", ["tenants", "users", "members", "definitions"])
def test_lists_are_paged(listed: Shell, noun):
    if noun == "definitions":
        first = listed.here(noun, "list", "--limit", "1", "--json").json
        second = listed.here(
            noun, "list", "--limit", "1", "--json", "--cursor", first["next_cursor"]
        ).json
        assert first["items"][0]["key"] != second["items"][0]["key"]
    else:
        assert len(listed.here(noun, "list", "--limit", "1", "-o", "id").lines) <= 1


def test_job_filters_are_those_of_the_api(listed: Shell):
    def ids(*flags: str) -> int:
        return len(listed.here("jobs", "list", "-o", "id", *flags).lines)

    assert ids("--created-after", "2020-01-01T00:00Z") == 1
    assert ids("--created-before", "2020-01-01T00:00Z") == 0
    assert ids("--source", "event") == 0
    assert ids("--correlation-id", "none-such") == 0
