"""Own fields that people attach to jobs and definitions."""

from collections.abc import Mapping

from windlass.core.jsontext import dump_json, size_of
from windlass.errors import OptionInvalid

#: Bytes.
_MOST = 16 * 1024


def metadata_text(value: object) -> str:
    """JSON text of an object of names and values, if it can be stored and is not too large."""
    if not isinstance(value, Mapping):
        raise OptionInvalid("metadata", value, allowed="an object of names and values")
    text = dump_json(dict(value), what="metadata")
    if (size := size_of(text)) > _MOST:
        raise OptionInvalid("metadata", f"{size:,} bytes", allowed=f"at most {_MOST:,}")
    return text
