"""Which definitions a list is to have."""

from dataclasses import dataclass

from windlass.core.definitions.definition import Definition


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionFilter:
    """Filter of definitions; a field that is None matches all.

    `search` is text found in key, title, description, handler or a tag, whatever its case.
    """

    queue: str | None = None
    kind: str | None = None
    enabled: bool | None = None
    missing: bool | None = None
    edited: bool | None = None
    tag: str | None = None
    search: str | None = None
    system: bool = False

    def fits(self, definition: Definition) -> bool:
        """True if a definition matches."""
        return (
            (self.system or not definition.system)
            and self.queue in (None, definition.queue)
            and self.kind in (None, definition.kind)
            and self.enabled in (None, definition.enabled)
            and self.missing in (None, definition.missing_from_code)
            and self.edited in (None, bool(definition.edited))
            and (self.tag is None or self.tag in definition.tags)
            and (self.search is None or self._is_found(definition))
        )

    def _is_found(self, definition: Definition) -> bool:
        wanted = (self.search or "").casefold()
        texts = (
            definition.key,
            definition.title,
            definition.description,
            definition.handler,
            *definition.tags,
        )
        return any(wanted in text.casefold() for text in texts)
