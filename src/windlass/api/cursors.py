"""Cursors: where a list goes on. Signed, and good only for the list and the tenant they came from."""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass

from windlass.core.models import Scope
from windlass.errors import OptionInvalid

_SIGNATURE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Cursors:
    secret: bytes

    def make(self, after: object, *, list: str, scope: Scope) -> str:
        """The cursor that goes on after something."""
        body = json.dumps(str(after)).encode()
        return base64.urlsafe_b64encode(self._sign(body, list, scope) + body).decode().rstrip("=")

    def read(self, cursor: str, *, list: str, scope: Scope) -> str:
        """What a cursor goes on after; one that was not made here for this list is refused."""
        try:
            raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            signature, body = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
            if hmac.compare_digest(signature, self._sign(body, list, scope)):
                return str(json.loads(body))
        except ValueError:
            pass
        raise OptionInvalid("cursor", cursor, allowed="the next_cursor of the same list")

    def _sign(self, body: bytes, list: str, scope: Scope) -> bytes:
        bound = json.dumps([list, scope.tenant]).encode()
        return hmac.digest(self.secret, bound + b"\0" + body, hashlib.sha256)[:_SIGNATURE_BYTES]
