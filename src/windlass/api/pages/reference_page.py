"""The API reference as a page at `/docs`: built from OpenAPI, no script, works offline."""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

from starlette.responses import HTMLResponse

from windlass.api.middleware.browser_security import page_headers
from windlass.api.middleware.problems import status_of
from windlass.api.schema.reference import EXAMPLES, INTRODUCTION, Example, curl
from windlass.errors.base import by_code

Json = Mapping[str, Any]

_STYLE = """
:root{color-scheme:light dark;--muted:#57606b;--line:#d5d9df;--soft:#f3f5f7;--link:#1558b0;
--get:#105e63;--post:#1f6b35;--patch:#8a5300;--delete:#991905}
@media(prefers-color-scheme:dark){:root{--muted:#9aa4b0;--line:#2b323b;--soft:#1b2027;--link:#8ab4ff;
--get:#5ed3da;--post:#6fd08c;--patch:#fdc933;--delete:#ff8a70}}
*{box-sizing:border-box}html{scroll-padding-top:1rem}
body{font:16px/1.55 system-ui,sans-serif;margin:0;display:grid;grid-template-columns:17rem minmax(0,1fr);
max-width:80rem;margin:0 auto}
nav{position:sticky;top:0;align-self:start;height:100vh;overflow-y:auto;padding:1.25rem 1rem;
font-size:14px;border-right:1px solid var(--line)}
nav ul{list-style:none;margin:0 0 .75rem;padding:0}nav li{padding:.1rem 0 .1rem .75rem}
nav summary{font-weight:600;cursor:pointer;padding:.2rem 0}nav a{text-decoration:none}
main{padding:1.25rem 1.5rem 6rem;min-width:0}
h1{font-size:1.9rem;line-height:1.2}h2{font-size:1.45rem;margin:3rem 0 1rem;padding-top:1rem;
border-top:2px solid var(--line)}h3{font-size:1.1rem;margin:2.5rem 0 .5rem}
h4{font-size:.95rem;margin:1.25rem 0 .4rem}
a{color:var(--link)}a:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:2px}
h3 a{color:inherit;text-decoration:none}h3 a:hover{text-decoration:underline}
code,pre{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{background:var(--soft);padding:.1em .3em;border-radius:4px;overflow-wrap:anywhere}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.75rem 1rem;overflow-x:auto}
pre code{background:none;padding:0;overflow-wrap:normal}
.at{display:block;font-size:.95rem;overflow-wrap:anywhere}.at code{font-weight:600}
.verb{display:inline-block;min-width:3.6em;font:600 .8em ui-monospace,monospace}
.GET{color:var(--get)}.POST{color:var(--post)}.PATCH{color:var(--patch)}.DELETE{color:var(--delete)}
.muted{color:var(--muted)}.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th{font-weight:600;color:var(--muted)}td,th{text-align:left;vertical-align:top;
padding:.4rem .9rem .4rem 0;border-bottom:1px solid var(--line)}td:first-child{white-space:nowrap}
.needed{color:var(--delete);font-size:.85em}
@media(max-width:56rem){body{display:block}nav{position:static;height:auto;border-right:0;
border-bottom:1px solid var(--line)}main{padding:1rem}
td:first-child{white-space:normal}}
@media print{nav{display:none}body{display:block}}
"""
_HEADERS = page_headers(_STYLE)
_CODE = re.compile(r"`([^`]+)`")
_ERRORS = re.compile(r"\[(\w+)\]\(errors\.md\)")
_PARAMETER = re.compile(r"\{(\w+)\}")
#: Bounds of a value: keyword of the minimum, of the maximum, and the unit.
_BOUNDS = (
    ("minimum", "maximum", ""), ("minLength", "maxLength", "characters"),
    ("minItems", "maxItems", "items"), ("minProperties", "maxProperties", "keys"),
)  # fmt: skip
_PROBLEM = "application/problem+json"


class _Operation(NamedTuple):
    method: str
    path: str
    about: Json

    @property
    def id(self) -> str:
        return str(self.about["operationId"])


def page(text: str) -> HTMLResponse:
    """A response with the page of `reference_html`."""
    return HTMLResponse(text, headers=_HEADERS)


def reference_html(document: Json) -> str:
    """Every operation, error and schema of an OpenAPI document, linked to each other."""
    by_tag: dict[str, list[_Operation]] = {}
    for path, methods in document["paths"].items():
        for method, about in methods.items():
            by_tag.setdefault(about["tags"][0], []).append(_Operation(method.upper(), path, about))
    schemas: Json = document["components"]["schemas"]
    main = [
        "<h1 id=top>Windlass HTTP API</h1>",
        *(f"<p>{_prose(each)}</p>" for each in INTRODUCTION),
        *_credentials(document),
        *_examples(),
        *(part for tag, each in by_tag.items() for part in _tag(tag, each, schemas)),
        *_errors(),
        *_schemas(schemas),
    ]
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>Windlass HTTP API</title>"
        "<meta name=viewport content='width=device-width,initial-scale=1'>"
        f"<style>{_STYLE}</style>"
        f"<body><nav aria-label=Contents>{''.join(_contents(by_tag))}</nav>"
        f"<main>{''.join(main)}</main></body></html>"
    )


def _contents(by_tag: Mapping[str, Sequence[_Operation]]) -> Iterator[str]:
    yield "<ul><li><a href=#top>Introduction</a><li><a href=#credentials>Credentials</a>"
    yield "<li><a href=#examples>By example</a></ul>"
    for tag, operations in by_tag.items():
        links = "".join(
            f'<li><span class="verb {each.method}">{each.method}</span> '
            f'<a href="#{_text(each.id)}">{_text(each.about["summary"])}</a>'
            for each in operations
        )
        yield f"<details><summary>{_text(tag.capitalize())}</summary><ul>{links}</ul></details>"
    yield "<ul><li><a href=#errors>Errors</a><li><a href=#schemas>Schemas</a></ul>"


def _credentials(document: Json) -> Iterator[str]:
    yield "<h2 id=credentials>Credentials</h2><p>Operations that need a credential accept any of "
    yield "these. A server without authentication needs none, and serves only its own machine.</p>"
    yield _table(
        ("scheme", "how"),
        (
            [f"<code>{_text(name)}</code>", _prose(about["description"])]
            for name, about in document["components"]["securitySchemes"].items()
        ),
    )


def _examples() -> Iterator[str]:
    yield "<h2 id=examples>By example</h2>"
    yield f"<p>{_prose('`API=http://127.0.0.1:8787/api/v1` once `windlass serve` runs.')}</p>"
    for example in EXAMPLES:
        yield f"<h4>{_text(example.title)}</h4>{_pre(curl(example))}"


def _tag(tag: str, operations: Iterable[_Operation], schemas: Json) -> Iterator[str]:
    yield f'<h2 id="{_text(tag)}">{_text(tag.capitalize())}</h2>'
    for operation in operations:
        yield from _operation(operation, schemas)


def _operation(operation: _Operation, schemas: Json) -> Iterator[str]:
    about, id = operation.about, _text(operation.id)
    yield f'<section id="{id}"><h3><a href="#{id}">{_text(about["summary"])}</a></h3>'
    yield f'<span class=at><span class="verb {operation.method}">{operation.method}</span> '
    yield f"<code>{_text(operation.path)}</code></span>"
    yield f"<p class=muted><code>{id}</code> · {_needs(about)}</p>"
    for paragraph in filter(None, about.get("description", "").split("\n\n")):
        yield f"<p>{_prose(paragraph)}</p>"
    if parameters := about.get("parameters"):
        rows = (
            [
                f"<code>{_text(each['name'])}</code>{_required_mark(each.get('required', False))}",
                _text(each["in"]),
                *_value_cell(each["schema"], each.get("description", "")),
            ]
            for each in parameters
        )
        yield f"<h4>Parameters</h4>{_table(('name', 'in', 'type', 'meaning'), rows)}"
    if body := about.get("requestBody"):
        schema = body["content"]["application/json"]["schema"]
        yield f"<h4>Body: {_type(schema)}{_required_mark(body.get('required', False))}</h4>"
        if inner := _resolved(schema, schemas):
            yield _fields(inner)
    yield f"<h4>Responses</h4>{_table(('status', 'body', 'meaning'), _responses(about))}"
    yield f"<h4>Example</h4>{_pre(_example(operation, schemas))}</section>"


def _needs(about: Json) -> str:
    if about.get("security") == []:
        return "needs no credential"
    right = about.get("x-right", "none")
    own = ", at least for the caller's own jobs" if about.get("x-own") else ""
    return f"needs <code>{_text(right)}</code>{own}" if right != "none" else "needs a credential"


def _responses(about: Json) -> Iterator[list[str]]:
    for status, response in sorted(about["responses"].items()):
        content: Json = response.get("content", {})
        if _PROBLEM in content:
            body, meaning = (
                '<a href="#schema.Problem">Problem</a>',
                "See <a href=#errors>errors</a>.",
            )
        else:
            body = ", ".join(_type(each.get("schema", {})) for each in content.values()) or "none"
            meaning = _text(HTTPStatus(int(status)).phrase) if status.isdigit() else ""
        yield [f"<code>{_text(status)}</code>", body, meaning]


def _errors() -> Iterator[str]:
    yield "<h2 id=errors>Errors</h2><p>Every error is a <a href=#schema.Problem>Problem</a>. Its code "
    yield "keeps its meaning. This table lists every code with its HTTP status.</p>"
    yield _table(
        ("code", "status", "meaning"),
        (
            [
                f'<code id="{code}">{code}</code>',
                str(int(status_of(kind))),
                f"<strong>{kind.__name__}</strong> {_prose(' '.join((kind.__doc__ or '').split()))}",
            ]
            for code, kind in by_code().items()
        ),
    )


def _schemas(schemas: Json) -> Iterator[str]:
    yield "<h2 id=schemas>Schemas</h2>"
    for name, schema in sorted(schemas.items()):
        id = _text(f"schema.{name}")
        yield f'<section id="{id}"><h3><a href="#{id}">{_text(name)}</a></h3>'
        if description := schema.get("description"):
            yield f"<p>{_prose(' '.join(description.split()))}</p>"
        yield _fields(schema) if schema.get("properties") else f"<p>{_type(schema)}</p>"
        for example in schema.get("examples", ()):
            yield _pre(json.dumps(example, indent=2, ensure_ascii=False))
        yield "</section>"


def _fields(schema: Json) -> str:
    required = schema.get("required", ())
    rows = (
        [
            f"<code>{_text(name)}</code>{_required_mark(name in required)}",
            *_value_cell(field, field.get("description", "")),
        ]
        for name, field in schema.get("properties", {}).items()
    )
    return _table(("field", "type", "meaning"), rows)


def _value_cell(schema: Json, description: str) -> tuple[str, str]:
    """The type and meaning of a value, with its bounds and default."""
    parts = [_prose(description)] if description else []
    bounds = [words for each in (schema, *schema.get("anyOf", ())) for words in _bounds(each)]
    if bounds:
        parts.append(f"<span class=muted>{_prose(', '.join(bounds))}.</span>")
    if schema.get("default") is not None and schema["default"] != {}:
        parts.append(f"Default <code>{_text(json.dumps(schema['default']))}</code>.")
    return _type(schema), " ".join(parts)


def _bounds(schema: Json) -> Iterator[str]:
    """The bounds of a value, such as `1 to 191 characters`."""
    for least, most, unit in _BOUNDS:
        if least in schema and most in schema:
            yield f"{_number(schema[least])} to {_number(schema[most])} {unit}".strip()
        elif least in schema:
            yield f"at least {_number(schema[least])} {unit}".strip()
        elif most in schema:
            yield f"at most {_number(schema[most])} {unit}".strip()
    if "exclusiveMinimum" in schema:
        yield f"more than {schema['exclusiveMinimum']:g}"
    if "pattern" in schema:
        yield f"matches `{schema['pattern']}`"


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else str(value)


def _type(schema: Json) -> str:
    """A type in words, with links to its schemas."""
    if ref := schema.get("$ref"):
        name = _text(ref.rpartition("/")[2])
        return f'<a href="#schema.{name}">{name}</a>'
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " or ".join(f"<code>{_text(json.dumps(each))}</code>" for each in values)
    for choice in ("anyOf", "oneOf", "allOf"):
        if branches := schema.get(choice):
            return " or ".join(dict.fromkeys(map(_type, branches)))
    kind = schema.get("type")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"object of {_type(inner)}" if isinstance(inner, Mapping) and inner else "object"
    words = _text(str(kind)) if kind else "anything"
    return f"{words} ({_text(schema['format'])})" if "format" in schema else words


def _resolved(schema: Json, schemas: Json) -> Json | None:
    """The object schema of a body, behind references and `or null`."""
    for each in (schema, *schema.get("anyOf", ())):
        if ref := each.get("$ref"):
            resolved: Json = schemas[ref.rpartition("/")[2]]
            return resolved
    return None


def _example(operation: _Operation, schemas: Json) -> str:
    """A curl command: one of the examples, or one built from the required fields."""
    for example in EXAMPLES:
        if example.method == operation.method and _matches_route(example.path, operation.path):
            return curl(example._replace(keeps=""))
    path = _PARAMETER.sub(lambda match: f"${match[1].upper()}", operation.path)
    if needed := [
        f"{each['name']}={_sample(each['schema'], schemas)}"
        for each in operation.about.get("parameters", ())
        if each["in"] == "query" and each.get("required")
    ]:
        path += "?" + "&".join(needed)
    body = ""
    if content := operation.about.get("requestBody"):
        schema = content["content"]["application/json"]["schema"]
        body = json.dumps(_sample(schema, schemas), ensure_ascii=False)
    if path.startswith("/api/v1"):
        return curl(Example("", operation.method, path.removeprefix("/api/v1"), body))
    return curl(Example("", operation.method, path, body)).replace("$API", "${API%/api/v1}", 1)


def _matches_route(path: str, route: str) -> bool:
    """True if the path of an example, below `/api/v1`, matches a route."""
    parts = path.partition("?")[0].split("/")
    steps = route.removeprefix("/api/v1").split("/")
    return len(parts) == len(steps) and all(
        step == each or step.startswith("{") for step, each in zip(steps, parts, strict=True)
    )


def _sample(schema: Json, schemas: Json) -> Any:
    """A minimal value that fits a schema."""
    if examples := schema.get("examples"):
        return examples[0]
    if ref := schema.get("$ref"):
        return _sample(schemas[ref.rpartition("/")[2]], schemas)
    if branches := schema.get("anyOf", schema.get("allOf")):
        return _sample(branches[0], schemas)
    if "enum" in schema or "const" in schema:
        return schema.get("enum", [schema.get("const")])[0]
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            return {each: _sample(fields[each], schemas) for each in schema.get("required", ())}
        case "array":
            return [_sample(schema["items"], schemas)] if schema.get("items") else []
        case "integer" | "number":
            return int(schema.get("minimum", 1))
        case "boolean":
            return True
        case "string" if schema.get("format") == "uuid":
            return "0190a5d0-3c1f-7abc-8def-0123456789ab"
        case "string" if schema.get("format") == "date-time":
            return "2030-01-31T09:00:00Z"
        case _:
            return "…"


def _required_mark(required: bool) -> str:
    return " <span class=needed>required</span>" if required else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table; its cells are already HTML."""
    head = "".join(f"<th scope=col>{each}" for each in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}' for cell in row)}" for row in rows)
    return f"<div class=wide><table><tr>{head}{body}</table></div>"


def _pre(text: str) -> str:
    return f"<pre><code>{_text(text)}</code></pre>"


def _prose(text: str) -> str:
    """Text with `code` and links to the errors in it."""
    return _ERRORS.sub(r'<a href="#errors">\1</a>', _CODE.sub(r"<code>\1</code>", _text(text)))


def _text(text: str) -> str:
    return html.escape(text)
