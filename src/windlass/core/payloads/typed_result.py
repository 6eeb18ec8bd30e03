"""Results as the type that their handler returns."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from windlass.core.definitions.signature import read_return_type
from windlass.core.payloads.json_text import dump_json
from windlass.errors import ResultMismatch
from windlass.ids import JobId

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class ResultType:
    """The return type of a handler. Without a type hint that can be checked, results stay as they
    are stored: plain JSON."""

    def __init__(self, handler: Callable[..., Any], *, truncates: bool = False) -> None:
        self._handler = handler
        self._truncates = truncates

    def decode(self, stored: Any, *, job: JobId) -> Any:
        """A stored result as the type. ResultMismatch if it does not fit: the handler returned
        something else than its hint says, or the hint has changed since."""
        if self._adapter is None or (self._truncates and _is_head(stored)):
            return stored
        from pydantic import ValidationError

        try:
            return self._adapter.validate_json(dump_json(stored))
        except ValidationError as error:
            [first, *_] = error.errors(include_url=False, include_input=False)
            path = "".join(f"/{part}" for part in first["loc"])
            raise ResultMismatch(job, str(first["msg"]), pointer=path) from None

    @cached_property
    def _adapter(self) -> "TypeAdapter[Any] | None":
        returned = read_return_type(self._handler)
        # A handler that returns nothing may give its result to `ctx.complete`.
        if returned in (Any, type(None)):
            return None
        from pydantic import PydanticUserError, TypeAdapter
        from pydantic.errors import PydanticSchemaGenerationError

        try:
            return TypeAdapter(returned)
        except (PydanticSchemaGenerationError, PydanticUserError):
            return None  # a class that JSON does not know, which no result can be either


def _is_head(stored: Any) -> bool:
    return isinstance(stored, dict) and stored.keys() == {"truncated", "bytes", "head"}
