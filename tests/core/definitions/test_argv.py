"""Commands: an exact argument list, in which no value ever becomes an option."""

import json
import os
import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.function_calls import counted_calls
from windlass.core.definitions import exit_codes
from windlass.core.definitions.argv import parse
from windlass.core.definitions.argv_limits import LONGEST_ARGUMENT, LONGEST_LINE, MOST_ARGUMENTS
from windlass.core.definitions.exit_codes import Meaning
from windlass.errors import ArgumentRefused, CommandTemplateInvalid

SCHEMA = {
    "type": "object",
    "properties": {
        "provider_id": {"type": "string"},
        "count": {"type": "integer"},
        "path_prefix": {"type": "string"},
        "force": {"type": "boolean"},
        "tag": {"type": "array", "items": {"type": "string"}},
        "ratio": {"type": ["number", "null"]},
        "extra": {"type": "object"},
        "unlisted": {"type": "string"},
        "anything": {},
    },
    "required": ["provider_id", "count", "force", "anything", "tag"],
}
OPTIONS = {
    "path_prefix": "--path-prefix",
    "force": "--force",
    "tag": "--tag",
    "ratio": "--ratio",
    "anything": "--anything",
}
COMMAND = {"argv": ["zoltag", "sync", "{provider_id}", "x={count}"], "options": OPTIONS}

texts = st.text(max_size=20) | st.sampled_from(
    ["-x", "--tenant-id", "--tenant-id=evil", "--", "-", ""]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=5,
)


def command(given=COMMAND, schema=SCHEMA):
    return parse(given, schema, definition="sync")


def build(given, payload, tenant="acme"):
    return command(given).build(payload, tenant)


def problems(given, schema=SCHEMA):
    with pytest.raises(CommandTemplateInvalid) as caught:
        command(given, schema)
    return {error.pointer: error.message for error in caught.value.errors}


def refusal(given, payload, tenant="acme"):
    with pytest.raises(ArgumentRefused) as caught:
        build(given, payload, tenant)
    [error] = caught.value.errors
    return error.pointer, error.message


def test_key_and_payload_make_an_exact_argument_list():
    schema = {
        "type": "object",
        "properties": {"provider_id": {"type": "string"}, "path_prefix": {"type": "string"}},
        "required": ["provider_id"],
        "additionalProperties": False,
    }
    declaration = {
        "argv": ["zoltag", "sync-dropbox"],
        "options": {"provider_id": "--provider-id", "path_prefix": "--path-prefix"},
    }

    argv = command(declaration, schema).build({"path_prefix": "/in", "provider_id": "7"}, "acme")

    assert argv == [
        "zoltag",
        "sync-dropbox",
        "--tenant-id",
        "acme",
        "--provider-id=7",
        "--path-prefix=/in",
    ]


def test_values_replace_the_placeholders_of_their_fields():
    argv = ["tool", "{provider_id}", "n={count}", "--model={provider_id}", "{{plain}}"]

    assert build(argv, {"provider_id": "a b", "count": -3}) == [
        "tool", "a b", "n=-3", "--model=a b", "{plain}", "--tenant-id", "acme",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("payload", "made"),
    [
        ({"path_prefix": "/in"}, ["--path-prefix=/in"]),
        ({"path_prefix": ""}, ["--path-prefix="]),
        ({"path_prefix": "--force"}, ["--path-prefix=--force"]),
        ({"force": True}, ["--force"]),
        ({"force": False}, []),
        ({"ratio": 0.5}, ["--ratio=0.5"]),
        ({"ratio": -2}, ["--ratio=-2"]),
        ({"ratio": None}, []),
        ({"tag": ["a", "-b"]}, ["--tag=a", "--tag=-b"]),
        ({"tag": []}, []),
        ({"unlisted": "x", "extra": {"a": 1}, "unheard_of": "--x"}, []),
    ],
)
def test_declared_fields_become_flags_and_others_are_dropped(payload, made):
    argv = build({"argv": ["tool"], "options": OPTIONS}, payload)

    assert argv == ["tool", "--tenant-id", "acme", *made]


def test_the_fields_that_reach_a_command_are_known():
    assert command().fields == {"provider_id", "count", *OPTIONS}
    assert command().executable == "zoltag"


@pytest.mark.parametrize("value", ["-x", "--force", "--", "-", "-1"])
def test_a_value_with_a_leading_dash_is_refused_where_it_could_be_an_option(value):
    for word in ("{provider_id}", "{provider_id}/x"):
        assert refusal(["tool", word], {"provider_id": value}) == (
            "/provider_id",
            "begins with a dash and would be taken for an option",
        )


def test_two_values_together_cannot_form_an_option():
    schema = {**SCHEMA, "required": ["provider_id", "path_prefix"]}
    template = command(["tool", "{provider_id}{path_prefix}", "{provider_id}-x"], schema)

    for payload in (
        {"provider_id": "", "path_prefix": "-x"},
        {"provider_id": "", "path_prefix": ""},
    ):
        with pytest.raises(ArgumentRefused):
            template.build(payload, "acme")


def test_a_negative_number_for_a_string_is_refused():
    assert refusal(["tool", "{count}"], {"count": -5})[0] == "/count"


def test_after_a_double_dash_any_value_is_allowed_and_flags_come_before():
    declaration = {"argv": ["tool", "rm", "--", "{provider_id}"], "options": {"force": "--force"}}

    assert build(declaration, {"provider_id": "--all", "force": True}) == [
        "tool", "rm", "--tenant-id", "acme", "--force", "--", "--all",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("payload", "pointer"),
    [
        ({}, "/provider_id"),
        ({"provider_id": None}, "/provider_id"),
        ({"provider_id": True}, "/provider_id"),
        ({"provider_id": ["x"]}, "/provider_id"),
        ({"provider_id": "a\x00b"}, "/provider_id"),
        ({"provider_id": "\ud800"}, "/provider_id"),
        ({"provider_id": "x" * (LONGEST_ARGUMENT + 1)}, "/provider_id"),
        ({"provider_id": "é" * LONGEST_ARGUMENT}, "/provider_id"),
        ({"provider_id": 10**5000}, "/provider_id"),
        ({"provider_id": "x", "anything": {"a": 1}}, "/anything"),
        ({"provider_id": "x", "tag": ["a", ["b"]]}, "/tag"),
        ({"provider_id": "x", "tag": [None]}, "/tag"),
        ({"provider_id": "x", "tag": [True]}, "/tag"),
        ({"provider_id": "x", "tag": ["\x00"]}, "/tag"),
        ({"provider_id": "x", "tag": ["a"] * (MOST_ARGUMENTS + 1)}, "/tag"),
        ({"provider_id": "x", "tag": ["a"] * MOST_ARGUMENTS}, ""),
        ({"provider_id": "x", "tag": ["a" * 1000] * (LONGEST_LINE // 1000)}, ""),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else "payload",
)
def test_values_that_cannot_be_arguments_are_refused(payload, pointer):
    declaration = {"argv": ["tool", "{provider_id}"], "options": OPTIONS}

    assert refusal(declaration, payload)[0] == pointer


def test_a_refusal_does_not_repeat_the_value():
    with pytest.raises(ArgumentRefused) as caught:
        build(["tool", "{provider_id}"], {"provider_id": "-hunter2"})

    assert "hunter2" not in str(caught.value)


def test_the_tenant_comes_from_the_job_not_the_payload():
    argv = build(["tool", "{provider_id}"], {"provider_id": "x", "tenant": "evil"}, "acme")

    assert argv == ["tool", "x", "--tenant-id", "acme"]


@pytest.mark.parametrize("tenant", ["", "-x", "a\x00"])
def test_a_tenant_that_looks_like_an_option_is_refused(tenant):
    assert "tenant" in refusal(["tool"], {}, tenant)[1]


def test_a_command_may_omit_the_tenant():
    assert build({"argv": ["tool"], "tenant_flag": None}, {}) == ["tool"]
    assert build({"argv": ["tool"], "tenant_flag": "--org"}, {}) == ["tool", "--org", "acme"]


@pytest.mark.parametrize(
    ("given", "pointer", "said"),
    [
        ("rm -rf /", "", "neither a list"),
        (None, "", "neither a list"),
        ({"argv": ["tool"], "shell": True}, "/shell", "not known"),
        ({"argv": ["tool"], "option": {}}, "/option", "did you mean options?"),
        ({}, "/argv", "list of 1 to"),
        ([], "/argv", "list of 1 to"),
        (["x"] * 101, "/argv", "list of 1 to"),
        ({"argv": "tool x"}, "/argv", "list of 1 to"),
        (["tool", 1], "/argv/1", "not text"),
        (["tool", "\x00"], "/argv/1", "NUL"),
        (["tool", "x" * 40_000], "/argv/1", "bytes"),
        (["{provider_id}"], "/argv/0", "executable"),
        (["/bin/{provider_id}"], "/argv/0", "executable"),
        (["-x"], "/argv/0", "executable"),
        ([""], "/argv/0", "executable"),
        (["tool", "{provider}"], "/argv/1", "did you mean provider_id?"),
        (["tool", "{nothing}"], "/argv/1", "no field"),
        (["tool", "{}"], "/argv/1", "brace"),
        (["tool", "{"], "/argv/1", "brace"),
        (["tool", "{provider_id!r}"], "/argv/1", "brace"),
        (["tool", "{provider_id:>9}"], "/argv/1", "brace"),
        (["tool", "{provider_id.x}"], "/argv/1", "no field"),
        (["tool", "{path_prefix}"], "/argv/1", "may be left out"),
        (["tool", "{force}"], "/argv/1", "is boolean"),
        (["tool", "{tag}"], "/argv/1", "is array"),
        (["tool", "--{provider_id}"], "/argv/1", "part of an option"),
        (["tool", "-n{count}"], "/argv/1", "part of an option"),
        (["tool", "--{provider_id}=x"], "/argv/1", "part of an option"),
        (["tool", "--tenant-id", "x"], "/argv/1", "added from the job"),
        (["tool", "--tenant-id={provider_id}"], "/argv/1", "added from the job"),
        (["tool", "--tenant={provider_id}"], "/argv/1", "added from the job"),
        (["sh", "-c", "echo {provider_id}"], "/argv/1", "shell"),
        (["/bin/bash", "-lc", "true"], "/argv/1", "shell"),
        (["env", "zsh", "-c", "{provider_id}"], "/argv/2", "shell"),
        ({"argv": ["tool"], "options": ["x"]}, "/options", "not an object"),
        ({"argv": ["tool"], "options": {"nope": "--x"}}, "/options/nope", "no field"),
        ({"argv": ["tool"], "options": {"force": "force"}}, "/options/force", "no flag"),
        ({"argv": ["tool"], "options": {"force": "-f"}}, "/options/force", "no flag"),
        ({"argv": ["tool"], "options": {"force": "--f=x"}}, "/options/force", "no flag"),
        ({"argv": ["tool"], "options": {"force": "--f x"}}, "/options/force", "no flag"),
        ({"argv": ["tool"], "options": {"force": "--"}}, "/options/force", "no flag"),
        ({"argv": ["tool"], "options": {"force": 1}}, "/options/force", "no flag"),
        ({"argv": ["tool"], "options": {"extra": "--x"}}, "/options/extra", "object"),
        ({"argv": ["tool"], "options": {"force": "--x", "tag": "--x"}}, "/options/tag", "two"),
        (
            {"argv": ["tool"], "options": {"unlisted": "--tenant-id"}},
            "/options/unlisted",
            "--tenant-id",
        ),
        (
            {"argv": ["tool"], "options": {"unlisted": "--tenant"}},
            "/options/unlisted",
            "--tenant-id",
        ),
        ({"argv": ["tool"], "tenant_flag": "tenant"}, "/tenant_flag", "no flag"),
        ({"argv": ["tool"], "exit_codes": {"x": "retry"}}, "/exit_codes/x", "exit code"),
        ({"argv": ["tool"], "exit_codes": {1: "maybe"}}, "/exit_codes/1", "maybe"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_an_unusable_or_unsafe_command_is_refused(given, pointer, said):
    found = problems(given)

    assert pointer in found
    assert said in found[pointer]


def test_fields_are_found_through_references_and_branches():
    schema = {
        "allOf": [{"$ref": "#/$defs/more"}],
        "$defs": {
            "more": {"properties": {"id": {"$ref": "#/$defs/list"}}},
            "list": {"type": "array"},
        },
        "required": ["id"],
    }

    assert command({"argv": ["tool"], "options": {"id": "--id"}}, schema).fields == {"id"}
    assert "is array" in problems(["tool", "{id}"], schema)["/argv/1"]


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"properties": {"a": True}}])
def test_a_loose_schema_is_allowed(schema):
    assert command(["tool"], schema).build({}, "acme") == ["tool", "--tenant-id", "acme"]


def test_all_problems_are_listed():
    declaration = {
        "argv": ["tool", "{a}", "{b}"],
        "options": {"c": "--c"},
        "exit_codes": {300: "retry"},
    }

    assert problems(declaration).keys() == {"/argv/1", "/argv/2", "/options/c", "/exit_codes/300"}


@pytest.mark.parametrize(
    ("code", "meaning"),
    [(0, "success"), (1, "retry"), (75, "retry"), (64, "permanent"), (3, "success"), (-9, "retry"),
     (-64, "retry"), (200, "retry")],
)  # fmt: skip
def test_exit_codes_follow_the_declaration(code, meaning):
    declaration = {"argv": ["tool"], "exit_codes": {75: "retry", "64": "permanent", 3: "success"}}

    assert command(declaration).exit_codes.meaning(code) == Meaning(meaning)


def test_without_a_declaration_only_zero_is_success():
    codes = command(["tool"]).exit_codes

    assert codes.meaning(0) is Meaning.SUCCESS
    assert {codes.meaning(code) for code in range(-64, 256) if code} == {Meaning.RETRY}


@pytest.mark.parametrize("code", [True, -1, 256, 1.5, "-1", "1000", "٣", "", None])
def test_an_impossible_exit_code_is_refused(code):
    with pytest.raises(CommandTemplateInvalid):
        exit_codes.parse({code: "retry"}, definition="sync")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exited with code 0"),
        (64, "exited with code 64"),
        (-9, "was ended by signal SIGKILL"),
        (-200, "was ended by signal 200"),
    ],
)
def test_the_end_of_a_command_is_described_in_words(code, words):
    assert exit_codes.in_words(code) == words


def test_a_program_receives_the_exact_arguments():
    schema = {"properties": {"text": {"type": "string"}}, "required": ["text"]}
    program = "import json, sys; print(json.dumps(sys.argv[1:]))"
    declaration = {
        "argv": [sys.executable, "-c", program, "x={text}"],
        "options": {"text": "--text"},
    }
    text = "$(touch /tmp/x) `id` ; rm -rf * | & > \" ' \\ \n ü"

    argv = parse(declaration, schema, definition="x").build({"text": text}, "acme")
    done = subprocess.run(argv, capture_output=True, check=True, env=os.environ)

    assert json.loads(done.stdout) == [f"x={text}", "--tenant-id", "acme", f"--text={text}"]


def test_large_payloads_are_refused_cheaply():
    declaration = {"argv": ["tool"], "options": OPTIONS}

    with counted_calls() as calls, pytest.raises(ArgumentRefused):
        build(declaration, {"tag": ["x" * 1000] * MOST_ARGUMENTS, "anything": ["y"] * 200_000})

    assert calls.count < 200_000


@given(st.dictionaries(st.sampled_from(sorted(SCHEMA["properties"])) | texts, values), texts)
def test_no_value_ever_becomes_an_option(payload, tenant):
    template = command()
    try:
        argv = template.build(payload, tenant)
    except ArgumentRefused:
        return

    assert argv[:2] == ["zoltag", "sync"]
    assert not argv[2].startswith("-")
    assert argv[3].startswith("x=")
    assert argv[4:6] == ["--tenant-id", tenant]
    assert not tenant.startswith("-")
    assert {word.partition("=")[0] for word in argv[6:]} <= set(OPTIONS.values())
    assert all("\0" not in word and word.encode() is not None for word in argv)


@given(
    st.lists(
        st.sampled_from(["tool", "{provider_id}", "{count}", "-", "--", "-{count}", "x{anything}",
                         "{anything}=", "--a={anything}", "{{", "{", "sh", "-c"]) | texts,
        max_size=5,
    ),
    st.dictionaries(st.sampled_from(sorted(SCHEMA["properties"])), st.sampled_from(["--a", "--b"]) | texts,
                    max_size=3),
    texts, texts,
)  # fmt: skip
def test_any_declaration_is_parsed_or_refused(argv, options, a, b):
    try:
        template = command({"argv": argv, "options": options})
        created = template.build({"provider_id": a, "count": 1, "anything": b}, "acme")
    except (CommandTemplateInvalid, ArgumentRefused):
        return

    written = {word.partition("=")[0] for word in argv} | set(options.values()) | {"--tenant-id"}
    before = created[: created.index("--")] if "--" in created else created
    assert created[0] == argv[0].replace("{{", "{").replace("}}", "}")
    assert all(word.partition("=")[0] in written for word in before if word.startswith("-"))


@given(values, values)
def test_any_other_value_is_refused_with_the_same_error(given, schema):
    with suppress(CommandTemplateInvalid):
        command(given, schema if isinstance(schema, dict) else {})
