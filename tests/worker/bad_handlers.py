"""Misbehaving handlers: each attempt must still end in an outcome."""

import asyncio
import sys
import warnings
from collections.abc import Callable
from typing import Any

from windlass import JobContext


class SaysExit(Exception):
    """Its text, its name and its class end the process of who asks for them."""

    def __str__(self) -> str:
        raise SystemExit("asked for its text")

    __repr__ = __str__


class SaysInterrupt(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


class HidesItsClass(Exception):
    @property
    def __class__(self) -> Any:
        raise SystemExit("asked for its class")


class HidesItsCause(Exception):
    @property
    def __cause__(self) -> Any:
        raise SystemExit("asked for its cause")


class NoModule(Exception):
    __module__ = 7  # type: ignore[assignment]


class Unreadable:
    """A value of which nothing can be had."""

    def __str__(self) -> str:
        raise SystemExit("asked for its text")

    __repr__ = __str__

    def __getattr__(self, name: str) -> Any:
        raise KeyboardInterrupt(name)


def circle() -> Exception:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    return one


def chain(length: int = 3_000) -> Exception:
    error = ValueError("the first")
    for number in range(length):
        following = ValueError(number)
        following.__cause__ = error
        error = following
    return error


def recurse() -> None:
    recurse()


#: What each makes, to be raised.
ERRORS: dict[str, Callable[[], BaseException]] = {
    "says exit": SaysExit,
    "says interrupt": SaysInterrupt,
    "hides its class": HidesItsClass,
    "hides its cause": HidesItsCause,
    "no module": NoModule,
    "circle": circle,
    "chain": chain,
    "group": lambda: ExceptionGroup("many", [SaysExit(), circle()]),
    "SystemExit": lambda: SystemExit(3),
    "KeyboardInterrupt": KeyboardInterrupt,
    "GeneratorExit": GeneratorExit,
    "StopIteration": lambda: StopIteration(1),
    "StopAsyncIteration": StopAsyncIteration,
    "CancelledError": asyncio.CancelledError,
    "MemoryError": MemoryError,
    "BaseException": lambda: BaseException("bare"),
    "surrogate": lambda: ValueError("\ud800\x00"),
}


def _cyclic() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


def _deep() -> Any:
    value: Any = 1
    for _ in range(5_000):
        value = [value]
    return value


#: What each makes, to be returned.
RESULTS: dict[str, Callable[[], Any]] = {
    "unreadable": Unreadable,
    "within": lambda: {"list": [Unreadable(), 1]},
    "as a key": lambda: {Unreadable(): 1},
    "nan": lambda: float("nan"),
    "huge": lambda: "x" * 3_000_000,
    "huge number": lambda: 10**400,
    "cyclic": _cyclic,
    "deep": _deep,
    "surrogate": lambda: "\ud800",
    "a generator without end": lambda: iter(int, 1),
    "a class": lambda: Unreadable,
    "a coroutine function": lambda: asyncio.sleep,
}


def _recursion(ctx: JobContext) -> None:
    recurse()


def _log(ctx: JobContext) -> None:
    ctx.log.info(Unreadable(), field=Unreadable())  # type: ignore[arg-type]
    raise LookupError("logged")


def _progress(ctx: JobContext) -> None:
    ctx.progress(Unreadable())  # type: ignore[arg-type]


def _warn(ctx: JobContext) -> None:
    ctx.warn(Unreadable())  # type: ignore[arg-type]
    raise LookupError("warned")


def _exit(ctx: JobContext) -> None:
    sys.exit("the end")


def _close_stdout(ctx: JobContext) -> None:
    sys.stdout.close()
    ctx.log.info("still here")
    raise LookupError("closed")


def _warnings(ctx: JobContext) -> None:
    warnings.simplefilter("error")
    warnings.warn("now an error", stacklevel=1)


#: What a handler may do besides, and which error its attempt ends with.
DEEDS: dict[str, tuple[Callable[[JobContext], None], str]] = {
    "recursion": (_recursion, "RecursionError"),
    "log": (_log, "LookupError"),
    "progress": (_progress, "windlass.errors.definitions.OptionInvalid"),
    "warn": (_warn, "LookupError"),
    "exit": (_exit, "SystemExit"),
    "close stdout": (_close_stdout, "LookupError"),
    "warnings": (_warnings, "UserWarning"),
}


async def _cancel_itself(ctx: JobContext) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


async def _cancel_itself_and_return(ctx: JobContext) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    raise LookupError("canceled")


async def _cancel_all(ctx: JobContext) -> None:
    for task in asyncio.all_tasks():
        task.cancel()
    await asyncio.sleep(0)
    raise LookupError("canceled all")


async def _task_that_exits(ctx: JobContext) -> None:
    async def leave() -> None:
        sys.exit("from a task")

    await asyncio.gather(leave(), asyncio.sleep(0))


async def _callback_that_exits(ctx: JobContext) -> None:
    asyncio.get_running_loop().call_soon(sys.exit, "from a callback")
    await asyncio.sleep(0.01)
    raise LookupError("went on")


async def _stop_the_loop(ctx: JobContext) -> None:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0.01)
    raise LookupError("went on")


#: The same for `async def` handlers, which share the worker's event loop.
ASYNC_DEEDS = {
    "cancels itself": (_cancel_itself, "asyncio.exceptions.CancelledError"),
    "cancels itself and returns": (_cancel_itself_and_return, "LookupError"),
    "cancels all tasks": (_cancel_all, "LookupError"),
    "a task that exits": (_task_that_exits, "SystemExit"),
    "a callback that exits": (_callback_that_exits, "LookupError"),
    "stops the loop": (_stop_the_loop, "LookupError"),
}
