"""Payload templates look up fields, keep types, and run no code."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.function_calls import counted_calls
from windlass.core.triggers.template import MOST_PLACEHOLDERS, TEMPLATE_LIMIT, parse
from windlass.errors import TemplateFailed, TemplateInvalid, TemplateMissing

EVENT = {
    "provider_id": 7,
    "folder_path": "/in",
    "ratio": 0.5,
    "on": True,
    "nothing": None,
    "items": [{"name": "first"}, "second"],
    "a": {"b": {"c": [1, 2]}},
    "größe": "L",
    "0": "a name of digits",
}

leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
pieces = st.lists(
    st.sampled_from(["{{", "}}", "{", "}", " ", ".", "event", "schedule", "event.a", "{{event.a}}",
                     "{{ event.b }}", "{{schedule.name}}", "{{{{", "0", "due_at"])
    | texts
).map("".join)  # fmt: skip


def values(strings):
    return st.recursive(
        leaves | strings,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4),
        max_leaves=12,
    )


def render(template, event=EVENT, **more):
    return parse(template).render({"event": event, **more})


def problems(template):
    with pytest.raises(TemplateInvalid) as caught:
        parse(template)
    return {error.pointer: error.message for error in caught.value.errors}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{event.provider_id}}", 7),
        ("{{event.folder_path}}", "/in"),
        ("{{ event.ratio }}", 0.5),
        ("{{event.on}}", True),
        ("{{event.nothing}}", None),
        ("{{event.items}}", [{"name": "first"}, "second"]),
        ("{{event.items.0.name}}", "first"),
        ("{{event.items.1}}", "second"),
        ("{{event.a.b}}", {"c": [1, 2]}),
        ("{{event.a.b.c.1}}", 2),
        ("{{event.größe}}", "L"),
        ("{{event.0}}", "a name of digits"),
    ],
)
def test_a_single_placeholder_keeps_its_type(text, value):
    assert render({"x": text}) == {"x": value}
    assert type(render(text)) is type(value)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("id {{event.provider_id}}", "id 7"),
        ("{{event.folder_path}}{{event.folder_path}}", "/in/in"),
        ("{{event.ratio}},{{event.on}},{{event.nothing}}", "0.5,true,null"),
        (" {{event.provider_id}}", " 7"),
    ],
)
def test_a_placeholder_in_text_becomes_text(text, filled):
    assert render({"x": [text]}) == {"x": [filled]}


def test_constants_are_unchanged():
    constant = {"path": "/", "deep": [1, None, {"a": "} }} {"}], "n": 2**80}

    assert parse(constant).is_constant
    assert parse(constant).render({}) == constant


def test_a_template_lists_the_fields_it_uses():
    template = parse({"a": "{{event.x}} {{event.y.0}}", "b": ["{{ event.x }}"]})

    assert template.placeholders == ("event.x", "event.y.0")
    assert not template.is_constant


def test_schedules_provide_due_time_and_trigger():
    due_at = datetime(2026, 3, 1, 2, tzinfo=UTC)
    context = {"schedule": {"name": "Nightly sync", "due_at": due_at}}

    payload = parse({"at": "{{schedule.due_at}}", "by": "run of {{schedule.name}}"}).render(context)

    assert payload == {"at": "2026-03-01T02:00:00Z", "by": "run of Nightly sync"}


def test_doubled_braces_are_escapes():
    assert render("Dear {{{{name}}, {{event.on}}") == "Dear {{name}}, true"
    assert parse("{{{{event.on}}").is_constant
    assert render("{{{{{{event.folder_path}}") == "{{/in"


def test_inserted_values_are_not_expanded_again():
    event = {"a": "{{event.secret}}", "b": "{{", "c": "event.secret}}", "secret": "s"}

    assert render({"x": "{{event.a}}", "y": "{{event.b}}{{event.c}}"}, event) == {
        "x": "{{event.secret}}",
        "y": "{{event.secret}}",
    }


def test_a_missing_field_error_names_place_and_field():
    with pytest.raises(TemplateMissing) as caught:
        render({"x": ["{{event.folder_pth}}"], "y": "a {{event.items.2}}", "z": "{{event.on.x}}"})

    assert caught.value.fields == ("event.folder_pth", "event.items.2", "event.on.x")
    assert [(error.pointer, error.message) for error in caught.value.errors] == [
        ("/x/0", "there is no event.folder_pth (did you mean event.folder_path?)"),
        ("/y", "there is no event.items.2"),
        ("/z", "there is no event.on.x"),
    ]


@pytest.mark.parametrize("step", ["-1", "00", "١", "1e0", "999999999999", "name"])
def test_list_indexes_are_plain_numbers(step):
    with pytest.raises(TemplateMissing):
        render(f"{{{{event.items.{step}}}}}")


def test_an_absent_context_is_missing():
    with pytest.raises(TemplateMissing, match=r"event\.a"):
        parse("{{event.a}}").render({"schedule": {}})


@pytest.mark.parametrize("name", ["items", "a"])
def test_lists_and_objects_are_not_allowed_inside_text(name):
    with pytest.raises(TemplateFailed, match="within a text") as caught:
        render({"x": f"got {{{{event.{name}}}}}"})

    assert caught.value.pointer == "/x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{", "is no placeholder"),
        ("{{}}", "is no placeholder"),
        ("{{event.a", "is no placeholder"),
        ("{{event a}}", "is no placeholder"),
        ("{{event.a|upper}}", "is no field"),
        ("{{event.a()}}", "is no field"),
        ("{{event['a']}}", "is no field"),
        ("{{event..a}}", "is no field"),
        ("{{event.}}", "is no field"),
        ("{{{event.a}}}", "is no placeholder"),
        ("{{event}}", "names no field"),
        ("{{env.HOME}}", "is not known"),
        ("{{schedule.due}}", "is not known"),
        ("{{schedule.name.x}}", "is not known"),
        ("{{event." + "a" * 200 + "}}", "is no placeholder"),
        ("{{event" + ".a" * 20 + "}}", "more than 16 steps"),
    ],
)
def test_invalid_placeholders_are_refused(text, said):
    [(pointer, message)] = problems({"x": ["fine", text]}).items()

    assert pointer == "/x/1"
    assert said in message


def test_every_invalid_place_is_named():
    assert problems({"a": "{{", "b": {"c": "{{x.y}}"}, "{{event.a}}": 1}).keys() == {
        "/a",
        "/b/c",
        "/{{event.a}}",
    }


def test_the_template_size_is_bounded():
    deep = "{{event.a}}"
    for _ in range(70):
        deep = [deep]

    assert "" in problems("x" * TEMPLATE_LIMIT)
    assert problems(["{{event.a}}"] * (MOST_PLACEHOLDERS + 1)).keys() == {f"/{MOST_PLACEHOLDERS}"}
    assert problems(deep)
    assert problems({"a": "\x00"}).keys() == {"/a"}
    assert problems({"a": object()}).keys() == {"/a"}


def test_the_rendered_size_is_bounded():
    template = parse(["{{event.a}}"] * MOST_PLACEHOLDERS)

    assert len(template.render({"event": {"a": "x" * 1000}})) == MOST_PLACEHOLDERS
    with pytest.raises(TemplateFailed, match="262,144 bytes"):
        template.render({"event": {"a": "x" * 2000}})
    with pytest.raises(TemplateFailed, match="1,024 bytes"):
        template.render({"event": {"a": "x" * 10}}, limit=1024)
    with pytest.raises(TemplateFailed, match="bytes"):
        # Each of these characters is written with six.
        template.render({"event": {"a": "\x01" * 500}})


def test_the_depths_of_template_and_event_add_up():
    deep = 1
    for _ in range(40):
        deep = [deep]
    template = "{{event.a}}"
    for _ in range(40):
        template = [template]

    with pytest.raises(TemplateFailed, match="64 levels"):
        render(template, {"a": deep})


def test_a_rendered_value_shares_nothing_with_the_event():
    event = {"a": [1]}

    payload = render({"x": "{{event.a}}", "y": "{{event.a}}"}, event)
    payload["x"].append(2)

    assert payload == {"x": [1, 2], "y": [1]}
    assert event == {"a": [1]}


@pytest.mark.parametrize(
    "piece", ["{{", "{", "{{ ", "{{{{", "{{event.a}}", "{{event.", "{{a.", "}}"]
)
def test_hostile_templates_are_parsed_cheaply(piece):
    text = piece * (60_000 // len(piece))
    event = {"a": "{{event.a}}" * 20_000}

    with counted_calls() as calls:
        try:
            render(text, event)
        except (TemplateInvalid, TemplateFailed, TemplateMissing):
            pass

    assert calls.count < 3 * len(text)


@given(values(pieces), values(pieces), st.integers(2, 200))
def test_any_template_is_rendered_or_refused(template, data, limit):
    try:
        parsed = parse(template)
        payload = parsed.render({"event": data, "schedule": {"name": data}}, limit=limit)
    except (TemplateInvalid, TemplateMissing, TemplateFailed):
        return

    assert len(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()) <= limit


@given(values(texts), texts, texts)
def test_any_value_is_inserted_unchanged(data, before, after):
    before, after = before.replace("{{", "{ {"), after.replace("{{", "{ {")
    template = {"alone": "{{event.x}}", "plain": before.rstrip("{") + " {{event.text}} " + after}

    payload = render(template, {"x": data, "text": after})

    assert payload == {"alone": data, "plain": before.rstrip("{") + " " + after + " " + after}
