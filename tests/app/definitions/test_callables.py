"""Methods, partials, decorated functions, objects and lambdas as handlers, or why not."""

import functools
from collections.abc import Callable

import pytest

from windlass import Settings, Windlass
from windlass.errors import DefinitionInvalid

LONG = "30s"


def add(a: int, b: int) -> int:
    return a + b


async def add_later(a: int, b: int) -> int:
    return a + b


def logged(function: Callable[..., int]) -> Callable[..., int]:
    @functools.wraps(function)
    def call(*args: int, **kwargs: int) -> int:
        return function(*args, **kwargs)

    return call


def hidden(function: Callable[..., int]) -> Callable[..., int]:
    def call(*args: int, **kwargs: int) -> int:
        return function(*args, **kwargs)

    return call


class Adder:
    def __init__(self, base: int = 0) -> None:
        self.base = base

    def add(self, a: int, b: int) -> int:
        return self.base + a + b

    async def add_later(self, a: int, b: int) -> int:
        return self.base + a + b

    @classmethod
    def of_class(cls, a: int, b: int) -> int:
        return a + b

    @staticmethod
    def static(a: int, b: int) -> int:
        return a + b

    def __call__(self, a: int, b: int) -> int:
        return self.base + a + b


@pytest.mark.parametrize(
    ("function", "result"),
    [
        (functools.partial(add, b=2), 3),
        (functools.partial(add_later, b=2), 3),
        (logged(add), 3),
        (Adder(10).add, 13),
        (Adder(10).add_later, 13),
        (Adder.of_class, 3),
        (Adder.static, 3),
        (Adder(10), 13),
    ],
    ids=[
        "partial",
        "async partial",
        "wraps",
        "method",
        "async method",
        "class",
        "static",
        "object",
    ],
)
async def test_a_callable_runs_as_a_job(wl, function, result):
    job = wl.job("add")(function)

    receipt = await job.enqueue(a=1, b=2)
    async with wl.running():
        assert await receipt.wait(LONG) == result


@pytest.mark.parametrize(
    ("declare", "problem", "hint"),
    [
        (lambda wl: wl.job(Adder), "it is a class", "an object with `__call__`"),
        (lambda wl: wl.job("add")(Adder.add), "it is a method, and `self`", "mailer.send"),
        (lambda wl: wl.job("add")(Adder.__dict__["of_class"]), "a classmethod", "below the class"),
        (lambda wl: wl.job("add")(Adder.__dict__["static"]), "a staticmethod", "below the class"),
        (lambda wl: wl.job(lambda: None), "a lambda has no name", 'wl.job("key")'),
        (lambda wl: wl.job(functools.partial(add, 1)), "a partial has no name", 'wl.job("key")'),
        (lambda wl: wl.job(Adder()), "a Adder has no name", 'wl.job("key")'),
        (lambda wl: wl.job("add")(hidden(add)), "a decorator hides", "functools.wraps"),
        (lambda wl: wl.job("add")(5), "a int cannot be called", "Give a function"),
        (
            lambda wl: wl.job("add", isolation="process")(Adder().add),
            "a method of an object",
            "isolation='thread'",
        ),
    ],
)
def test_what_cannot_be_a_handler_is_refused_with_what_to_do(declare, problem, hint):
    wl = Windlass("sqlite:///never-opened.db", settings=Settings())

    with pytest.raises(DefinitionInvalid) as caught:
        declare(wl)

    assert problem.lower() in caught.value.reason.lower()
    assert hint in caught.value.hint
