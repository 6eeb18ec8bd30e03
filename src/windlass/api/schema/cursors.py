"""Cursors: the position at which a list continues. Signed, and valid only for their list and tenant.

Their content is masked, because the position may be an item that the caller must not see.
"""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass

from windlass.core.jobs.models import Scope
from windlass.errors import OptionInvalid

_SIGNATURE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Cursors:
    secret: bytes

    def make(self, after: object, *, list: str, scope: Scope) -> str:
        """Create the cursor that continues after an item."""
        body = json.dumps(str(after)).encode()
        signature = self._sign(body, list, scope)
        cursor = signature + self._masked(body, signature)
        return base64.urlsafe_b64encode(cursor).decode().rstrip("=")

    def read(self, cursor: str, *, list: str, scope: Scope) -> str:
        """Return the position in a cursor; OptionInvalid unless it was created for this list."""
        try:
            raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            signature, masked = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
            body = self._masked(masked, signature)
            if hmac.compare_digest(signature, self._sign(body, list, scope)):
                return str(json.loads(body))
        except ValueError:
            pass
        raise OptionInvalid("cursor", cursor, allowed="the next_cursor of the same list")

    def _sign(self, body: bytes, list: str, scope: Scope) -> bytes:
        bound = json.dumps([list, scope.tenant]).encode()
        return hmac.digest(self.secret, bound + b"\0" + body, hashlib.sha256)[:_SIGNATURE_BYTES]

    def _masked(self, body: bytes, signature: bytes) -> bytes:
        """XOR the body with a mask derived from its signature; applying it twice restores it."""
        mask = hashlib.shake_256(b"cursor\0" + self.secret + signature).digest(len(body))
        return bytes(a ^ b for a, b in zip(body, mask, strict=True))
