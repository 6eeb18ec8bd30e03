"""Descriptors that expose the engine's verbs on the app, async and blocking."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import wraps
from inspect import signature
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    overload,
)

from windlass.app.portal import Runner
from windlass.engine.engine import Engine

if TYPE_CHECKING:
    from windlass.app.windlass import Windlass

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A")


#: Raises if the app does not accept an argument.
Check = Callable[[Engine, Any], Awaitable[None]]


class AsyncNoun:
    """A noun of the engine for async code; its verbs wait until the app is ready."""

    def __init__(self, app: "Windlass") -> None:
        self._app = app


class BlockingNoun:
    """A noun of the engine for blocking code; its verbs run in the portal's loop."""

    def __init__(self, app: "Windlass", portal: Runner) -> None:
        self._app = app
        self._portal = portal


class AppVerb(Generic[P, R]):
    """An engine's verb on a noun of the app: `list = AppVerb(Definitions.list)`.

    On an `AsyncNoun` it is async, on a `BlockingNoun` it blocks; both keep signature, types and
    docstring. `noun` names another noun of the engine that has the verb. `checks` limit arguments,
    by name, for which the engine's verb accepts more than the app does.
    """

    def __init__(
        self,
        verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]],
        *,
        noun: str | None = None,
        checks: Mapping[str, Check] | None = None,
    ) -> None:
        self._verb = verb
        self._noun = noun
        #: Each with the argument's position after `self`, if it may be positional.
        self._checks = [
            (name, list(signature(verb).parameters).index(name) - 1, check)
            for name, check in (checks or {}).items()
        ]
        self.__doc__ = verb.__doc__

    @overload
    def __get__(
        self, instance: None, owner: type
    ) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]: ...
    @overload
    def __get__(
        self, instance: AsyncNoun, owner: type | None = None
    ) -> Callable[P, Coroutine[Any, Any, R]]: ...
    @overload
    def __get__(self, instance: BlockingNoun, owner: type | None = None) -> Callable[P, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self._verb

        @wraps(self._verb)
        async def awaited(*args: P.args, **kwargs: P.kwargs) -> R:
            engine = await instance._app.ready()
            for name, place, check in self._checks:
                value = kwargs.get(name, args[place] if place < len(args) else None)
                if value is not None:
                    await check(engine, value)
            return await self._verb(getattr(engine, self._noun or instance._noun), *args, **kwargs)

        if isinstance(instance, AsyncNoun):
            return awaited

        @wraps(self._verb)
        def blocking(*args: P.args, **kwargs: P.kwargs) -> R:
            result: R = instance._portal.run(awaited(*args, **kwargs))
            return result

        return blocking


class Bridge(Protocol):
    """An object with async verbs, and the portal that runs them."""

    @property
    def _awaited(self) -> object: ...
    @property
    def _portal(self) -> Runner: ...


class BlockingVerb(Generic[P, R]):
    """Blocking version of an async verb: `list = BlockingVerb(AsyncDefinitions.list)`.

    `then` converts the result, for example to a handle whose own verbs block.
    """

    @overload
    def __init__(self, verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]) -> None: ...
    @overload
    def __init__(
        self,
        verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, A]],
        then: Callable[[A, Runner], R],
    ) -> None: ...
    def __init__(self, verb: Callable[..., Any], then: Callable[[Any, Runner], Any] | None = None):
        self._verb = verb
        self._then = then
        self.__doc__ = verb.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "BlockingVerb[P, R]": ...
    @overload
    def __get__(self, instance: Bridge, owner: type | None = None) -> Callable[P, R]: ...
    def __get__(self, instance: Bridge | None, owner: type | None = None) -> Any:
        if instance is None:
            return self

        @wraps(self._verb)
        def block(*args: P.args, **kwargs: P.kwargs) -> Any:
            verb = getattr(instance._awaited, self._name)
            result = instance._portal.run(verb(*args, **kwargs))
            return result if self._then is None else self._then(result, instance._portal)

        return block
