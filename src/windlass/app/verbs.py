"""The engine's verbs as the app shows them, awaited and blocking, from one description."""

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

from windlass.app.portal import Runs
from windlass.engine.engine import Engine

if TYPE_CHECKING:
    from windlass.app.windlass import Windlass

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A")


#: Raises if an argument is none that the app takes.
Check = Callable[[Engine, Any], Awaitable[None]]


class AsyncNoun:
    """A noun of the engine for code that awaits; its verbs wait until the app is ready."""

    def __init__(self, app: "Windlass") -> None:
        self._app = app


class BlockingNoun:
    """A noun of the engine for code that blocks; its verbs run in the portal's loop."""

    def __init__(self, app: "Windlass", portal: Runs) -> None:
        self._app = app
        self._portal = portal


class AppVerb(Generic[P, R]):
    """An engine's verb on a noun of the app: `list = AppVerb(Definitions.list)`.

    On an `AsyncNoun` it is awaited, on a `BlockingNoun` it blocks; both keep signature, types and
    docstring. `noun` is for a verb of another noun of the engine. `checks` are for arguments, by
    name, of which the engine's verb takes more than the app does.
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
        #: Each with the argument's place after `self`, where it may stand without its name.
        self._checks = [
            (name, list(signature(verb).parameters).index(name) - 1, check)
            for name, check in (checks or {}).items()
        ]
        self.__doc__ = verb.__doc__

    @overload
    def __get__(
        self, face: None, owner: type
    ) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]: ...
    @overload
    def __get__(
        self, face: AsyncNoun, owner: type | None = None
    ) -> Callable[P, Coroutine[Any, Any, R]]: ...
    @overload
    def __get__(self, face: BlockingNoun, owner: type | None = None) -> Callable[P, R]: ...
    def __get__(self, face: Any, owner: type | None = None) -> Any:
        if face is None:
            return self._verb

        @wraps(self._verb)
        async def awaited(*args: P.args, **kwargs: P.kwargs) -> R:
            engine = await face._app.ready()
            for name, place, check in self._checks:
                given = kwargs.get(name, args[place] if place < len(args) else None)
                if given is not None:
                    await check(engine, given)
            return await self._verb(getattr(engine, self._noun or face._noun), *args, **kwargs)

        if isinstance(face, AsyncNoun):
            return awaited

        @wraps(self._verb)
        def blocking(*args: P.args, **kwargs: P.kwargs) -> R:
            answer: R = face._portal.run(awaited(*args, **kwargs))
            return answer

        return blocking


class Bridge(Protocol):
    """Something whose verbs are awaited, and what runs them meanwhile."""

    @property
    def _awaited(self) -> object: ...
    @property
    def _portal(self) -> Runs: ...


class BlockingVerb(Generic[P, R]):
    """The awaited verb of the same name, blocking: `list = BlockingVerb(AsyncDefinitions.list)`.

    `then` makes something of its answer, for what the answer's own verbs go through.
    """

    @overload
    def __init__(self, verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]) -> None: ...
    @overload
    def __init__(
        self,
        verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, A]],
        then: Callable[[A, Runs], R],
    ) -> None: ...
    def __init__(self, verb: Callable[..., Any], then: Callable[[Any, Runs], Any] | None = None):
        self._verb = verb
        self._then = then
        self.__doc__ = verb.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, face: None, owner: type) -> "BlockingVerb[P, R]": ...
    @overload
    def __get__(self, face: Bridge, owner: type | None = None) -> Callable[P, R]: ...
    def __get__(self, face: Bridge | None, owner: type | None = None) -> Any:
        if face is None:
            return self

        @wraps(self._verb)
        def block(*args: P.args, **kwargs: P.kwargs) -> Any:
            verb = getattr(face._awaited, self._name)
            answer = face._portal.run(verb(*args, **kwargs))
            return answer if self._then is None else self._then(answer, face._portal)

        return block
