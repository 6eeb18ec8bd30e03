"""Signature of a handler: payload fields, context parameter, and values given by type."""

import inspect
import types
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Union

from windlass.errors import DefinitionInvalid

#: The default of a parameter that has none.
REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that the payload fills. `default` is REQUIRED if it has none.

    `alias` is the payload's name for it: the alias of a pydantic `Field` in its annotation, which
    may be a word that no parameter can have (`from`), else the parameter's own name.
    """

    name: str
    annotation: Any
    default: Any
    by_name_only: bool = False
    alias: str = ""

    def __post_init__(self) -> None:
        if not self.alias:
            object.__setattr__(self, "alias", _alias(self.annotation) or self.name)


@dataclass(frozen=True, slots=True)
class Signature:
    """A handler's parameters, sorted by who fills them.

    `context` is the name of the parameter that takes the JobContext, `provided` maps names to the
    types of values that are not part of the payload. `others` is the annotation of `**kwargs`, or
    REQUIRED if there is none and every name must be known.
    """

    fields: tuple[Parameter, ...]
    context: str | None
    provided: Mapping[str, Any]
    others: Any


def check_parameters(handler: Callable[..., Any], definition: str) -> None:
    """DefinitionInvalid if the parameters cannot be filled by name and type, whatever the types."""
    for parameter in _parameters(handler, definition):
        problem = None
        if parameter.kind is parameter.VAR_POSITIONAL:
            problem = f"`*{parameter.name}` has no names for its values"
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            problem = f"`{parameter.name}` is positional only, and payloads are passed by name"
        elif parameter.annotation is REQUIRED and parameter.kind is not parameter.VAR_KEYWORD:
            problem = (
                f"`{parameter.name}` has no type hint, and type hints are what payloads follow"
            )
        if problem:
            raise DefinitionInvalid(
                definition, problem, hint="Give each parameter a name and a type: `def f(x: int)`."
            )


def read_signature(
    handler: Callable[..., Any],
    definition: str,
    *,
    context_type: type | None = None,
    provided: Collection[Any] = (),
    namespace: Mapping[str, Any] | None = None,
) -> Signature:
    """The signature with its type hints resolved.

    `namespace` has names the hints may use beside those of the handler's module; the context type
    is always among them, so that importing it for type checking only is enough.
    """
    known = {**({context_type.__name__: context_type} if context_type else {}), **(namespace or {})}
    fields: list[Parameter] = []
    given: dict[str, Any] = {}
    context: str | None = None
    others: Any = REQUIRED
    for parameter in _parameters(handler, definition):
        annotation = _resolved(parameter, handler, definition, known)
        if parameter.kind is parameter.VAR_KEYWORD:
            others = Any if annotation is REQUIRED else annotation
        elif context_type is not None and _is_context(annotation, context_type):
            context = parameter.name
        elif _bare(annotation) in provided:
            given[parameter.name] = _bare(annotation)
        else:
            by_name_only = parameter.kind is parameter.KEYWORD_ONLY
            fields.append(Parameter(parameter.name, annotation, parameter.default, by_name_only))
    _check_aliases(fields, definition)
    return Signature(tuple(fields), context, types.MappingProxyType(given), others)


def read_return_type(handler: Callable[..., Any]) -> Any:
    """The type that a handler returns; Any without a type hint, or one that cannot be resolved."""
    try:
        returned = inspect.signature(handler).return_annotation
    except (TypeError, ValueError, NameError):
        return Any
    if returned is inspect.Signature.empty:
        return Any
    written = types.SimpleNamespace(__annotations__={"it": returned})
    try:
        return typing.get_type_hints(written, _globals(handler), include_extras=True)["it"]
    except Exception:  # noqa: BLE001  a hint is an expression and may fail in any way
        return Any


def _check_aliases(fields: list[Parameter], definition: str) -> None:
    named: dict[str, str] = {}
    for field in fields:
        if field.alias in named:
            raise DefinitionInvalid(
                definition,
                f"`{named[field.alias]}` and `{field.name}` are both called {field.alias!r} in the"
                " payload",
                hint="Give each parameter an alias of its own.",
            )
        named[field.alias] = field.name


def _alias(annotation: Any) -> str | None:
    """The alias that `Annotated[..., Field(alias="from")]` gives; the last one wins."""
    if typing.get_origin(annotation) is not Annotated:
        return None
    found = (getattr(part, "alias", None) for part in reversed(annotation.__metadata__))
    return next((alias for alias in found if isinstance(alias, str) and alias), None)


def _parameters(handler: Callable[..., Any], definition: str) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(handler).parameters.values())
    except (TypeError, ValueError, NameError) as error:
        raise DefinitionInvalid(definition, f"its signature cannot be read: {error}") from None


def _resolved(
    parameter: inspect.Parameter,
    handler: Callable[..., Any],
    definition: str,
    known: Mapping[str, Any],
) -> Any:
    if parameter.annotation is REQUIRED:
        return REQUIRED
    written = types.SimpleNamespace(__annotations__={"it": parameter.annotation})
    try:
        return typing.get_type_hints(written, _globals(handler), dict(known), include_extras=True)[
            "it"
        ]
    except Exception as error:  # noqa: BLE001  a hint is an expression and may fail in any way
        raise DefinitionInvalid(
            definition,
            f"the type of `{parameter.name}` cannot be resolved: {error}",
            hint="Import it at the top of the module, not only for type checking.",
        ) from None


def _globals(handler: Callable[..., Any]) -> dict[str, Any]:
    inner: Any = inspect.unwrap(handler)
    while hasattr(inner, "func"):
        inner = inspect.unwrap(inner.func)
    inner = getattr(inner, "__func__", inner)
    found = getattr(inner, "__globals__", None) or getattr(type(inner).__call__, "__globals__", {})
    return dict(found)


def _is_context(annotation: Any, context_type: type) -> bool:
    bare = _bare(annotation)
    if typing.get_origin(bare) in (Union, types.UnionType):
        return any(_is_context(part, context_type) for part in typing.get_args(bare))
    return isinstance(bare, type) and issubclass(bare, context_type)


def _bare(annotation: Any) -> Any:
    return (
        typing.get_args(annotation)[0] if typing.get_origin(annotation) is Annotated else annotation
    )
