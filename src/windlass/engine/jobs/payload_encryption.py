"""Encryption at rest of what payload schemas mark as secret.

AES-256-GCM with a key of its own for each payload, derived from a configured key and a random salt, so
that no number of jobs wears a key out. The ciphertext is bound to tenant and definition: moved
to a job of another, it does not decrypt. Without a configured key nothing is encrypted.
"""

import base64
import hashlib
import hmac
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from windlass.core.definitions.definition import Definition
from windlass.core.jobs.dedupe import payload_key
from windlass.core.jobs.models import Job, NewJob
from windlass.core.leases.gates import gate_for
from windlass.core.payloads.encrypted_fields import (
    SEALED,
    is_sealed,
    marking_schema,
    replace_secrets,
    restore_values,
)
from windlass.core.payloads.json_text import dump_json, load_json
from windlass.core.payloads.secret_patterns import MASK
from windlass.engine.definitions.definitions import Definitions
from windlass.errors import (
    DefinitionNotFound,
    EncryptionKeyInvalid,
    ExtraMissing,
    PayloadKeyMissing,
    PayloadUndecryptable,
)
from windlass.ids import JobId
from windlass.settings import Settings
from windlass.storage.storage import Storage

if TYPE_CHECKING:
    from windlass.storage.jobs.encryption import EncryptedPayload

KEY_BYTES = 32
_VERSION = "1"
_SALT_BYTES, _NONCE_BYTES = 16, 12


@dataclass(frozen=True, slots=True, repr=False)
class Key:
    """One configured key. `id` names it in ciphertexts and messages and tells nothing of it."""

    id: str
    _root: bytes

    @classmethod
    def of(cls, raw: bytes) -> "Key":
        return cls(_derive_key(raw, b"id").hex()[:8], raw)

    def sealing(self, salt: bytes) -> bytes:
        """The key of one payload."""
        return _derive_key(self._root, b"payload" + salt)

    def digest(self, value: bytes) -> str:
        """What stands for a value where equal values must be known as such."""
        return hmac.digest(_derive_key(self._root, b"digest"), value, "sha256").hex()


class SealedText(NamedTuple):
    """Payload text as it is stored, and as dedupe and limit keys are made of it."""

    text: str
    digested: str


class Sealer:
    """Encrypts with the first key, decrypts with any."""

    def __init__(self, keys: Sequence[Key] = ()) -> None:
        self._keys = {key.id: key for key in keys}
        self._first = keys[0] if keys else None
        self._aead: Callable[[bytes], Any] | None = _aead() if keys else None
        #: The key that new payloads are encrypted with; None if none is configured.
        self.first_key_id = None if self._first is None else self._first.id

    def seal(self, job: NewJob, definition: Definition) -> NewJob:
        """The job as it is stored: what is secret in it encrypted, and in none of its keys."""
        if self._first is None or is_sealed(job.payload):
            return job
        sealed = self.seal_text(definition, job.tenant, job.payload)
        if sealed is None:
            return job
        gate, dedupe_key = job.gate, job.dedupe_key
        if definition.limit_key and gate == gate_for(definition, job.tenant, job.payload):
            gate = gate_for(definition, job.tenant, sealed.digested)
        if dedupe_key == payload_key(definition.key, load_json(job.payload)):
            dedupe_key = payload_key(definition.key, load_json(sealed.digested))
        return job._replace(payload=sealed.text, gate=gate, dedupe_key=dedupe_key)

    def seal_text(self, definition: Definition, tenant: str, text: str) -> SealedText | None:
        """Payload text with its secrets encrypted; None if there is nothing to encrypt."""
        schema = None if self._first is None else marking_schema(definition.payload_schema)
        if self._first is None or schema is None:
            return None
        payload = load_json(text)
        secrets: list[tuple[Sequence[str | int], Any]] = []

        def take(path: list[str | int], value: Any) -> str:
            secrets.append((path, value))
            return MASK

        masked = replace_secrets(payload, schema, take)
        if not secrets:
            return None
        digest = self._digester(tenant, definition.key)
        digested = replace_secrets(payload, schema, lambda _, value: digest(value))
        # Not checked again: inside of the list they are deeper than a payload may be.
        envelope = self._encrypt(self._first, tenant, definition.key, json.dumps(secrets))
        rest = masked if isinstance(masked, dict) else {}
        digested_rest = digested if isinstance(digested, dict) else {SEALED: digested}
        return SealedText(dump_json({**rest, SEALED: envelope}), dump_json(digested_rest))

    def dedupe_key(self, definition: Definition, tenant: str, text: str) -> str:
        """The key of `dedupe="payload"` for payload text that is not encrypted."""
        sealed = self.seal_text(definition, tenant, text)
        return payload_key(definition.key, load_json(text if sealed is None else sealed.digested))

    def open_text(self, definition: str, tenant: str, text: str) -> str:
        """Stored payload text as it was given. PayloadKeyMissing or PayloadUndecryptable if it
        cannot be had."""
        if not is_sealed(text):
            return text
        payload = load_json(text)
        envelope = payload.pop(SEALED)
        return dump_json(self._unseal(payload, envelope, tenant, definition))

    def reseal_text(self, definition: str, tenant: str, text: str) -> str | None:
        """Stored payload text encrypted anew with the first key; None if it is already. Raises as
        above."""
        payload = load_json(text)
        envelope = payload.get(SEALED)
        if self._first is None or envelope is None or _key_id(envelope) == self._first.id:
            return None
        plain = self._decrypt(envelope, tenant, definition)
        payload[SEALED] = self._encrypt(self._first, tenant, definition, plain)
        return dump_json(payload)

    def open_job(self, job: Job) -> Job:
        """A stored job with its payload as it was given; raises as above."""
        if job.sealed is None:
            return job
        # A copy, because values are put back in place.
        payload = load_json(dump_json(job.payload))
        opened = self._unseal(payload, job.sealed, job.tenant, job.definition)
        return replace(job, payload=opened, sealed=None)

    def open_if_possible(self, job: Job) -> Job:
        """The same; as it is stored if it cannot be decrypted here."""
        try:
            return self.open_job(job)
        except (PayloadKeyMissing, PayloadUndecryptable):
            return job

    def missing_key(self, job: Job) -> str | None:
        """The id of the key that a job's payload needs and that is not configured."""
        if job.sealed is None:
            return None
        key_id = _key_id(job.sealed)
        return None if key_id in self._keys else key_id

    def _unseal(self, payload: Any, envelope: Any, tenant: str, definition: str) -> Any:
        values = json.loads(self._decrypt(str(envelope), tenant, definition))
        return restore_values(payload, values)

    def _encrypt(self, key: Key, tenant: str, definition: str, text: str) -> str:
        salt, nonce = os.urandom(_SALT_BYTES), os.urandom(_NONCE_BYTES)
        assert self._aead is not None, "there is a key"
        cipher = self._aead(key.sealing(salt))
        sealed = cipher.encrypt(nonce, text.encode(), _associated_data(tenant, definition))
        body = base64.urlsafe_b64encode(salt + nonce + sealed).decode().rstrip("=")
        return f"{_VERSION}.{key.id}.{body}"

    def _decrypt(self, envelope: str, tenant: str, definition: str) -> str:
        key_id = _key_id(envelope)
        key = self._keys.get(key_id)
        if key is None or self._aead is None:
            raise PayloadKeyMissing(definition, key_id=key_id, known=list(self._keys))
        from cryptography.exceptions import InvalidTag

        try:
            _, _, body = envelope.split(".")
            raw = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
            salt, nonce = raw[:_SALT_BYTES], raw[_SALT_BYTES : _SALT_BYTES + _NONCE_BYTES]
            cipher = self._aead(key.sealing(salt))
            sealed = raw[_SALT_BYTES + _NONCE_BYTES :]
            plain: bytes = cipher.decrypt(nonce, sealed, _associated_data(tenant, definition))
        except (InvalidTag, ValueError):
            raise PayloadUndecryptable(definition, key_id=key_id) from None
        return plain.decode()

    def _digester(self, tenant: str, definition: str) -> Callable[[Any], str]:
        key = self._first
        assert key is not None, "asked for only where something is encrypted"

        def digest(value: Any) -> str:
            canonical = json.dumps([tenant, definition, value], sort_keys=True)
            return f"hmac:{key.digest(canonical.encode())}"

        return digest


class JobSealer:
    """Seals jobs by what their definitions mark."""

    def __init__(self, sealer: Sealer, definitions: Definitions) -> None:
        self._sealer = sealer
        self._definitions = definitions

    async def seal(self, jobs: Sequence[NewJob]) -> Sequence[NewJob]:
        """Jobs as they are stored: what is secret in them encrypted, if there is a key."""
        if self._sealer.first_key_id is None:
            return jobs
        for key in {job.definition for job in jobs}:
            if self._definitions.known(key) is None:
                await self._definitions.get(key)
        return self.seal_known(jobs)

    def seal_known(self, jobs: Sequence[NewJob]) -> Sequence[NewJob]:
        """The same without asking the database: DefinitionNotFound for a definition that is not
        known yet, because what is secret cannot be told then."""
        if self._sealer.first_key_id is None:
            return jobs
        return [self._sealer.seal(job, self._known(job.definition)) for job in jobs]

    def _known(self, key: str) -> Definition:
        definition = self._definitions.known(key)
        if definition is None:
            raise DefinitionNotFound(key)
        return definition


@dataclass(slots=True)
class ReencryptionResult:
    """How many payloads were encrypted anew, and how many could not be, by why."""

    changed: int = 0
    failed: Counter[str] = field(default_factory=Counter)


async def reencrypt(
    storage: Storage, sealer: Sealer, *, dry_run: bool = False
) -> ReencryptionResult:
    """Encrypt every payload that is encrypted with another key anew with the first one, in batches.
    A `dry_run` only counts them.

    A job that changes its place or payload meanwhile is left for the next time. Safe to repeat and to
    interrupt.
    """
    done = ReencryptionResult()
    cursor: JobId | None = JobId(UUID(int=0))
    while cursor is not None:
        payloads, cursor = await storage.jobs.encrypted_payloads(cursor)
        changes: list[tuple[EncryptedPayload, str]] = []
        for each in payloads:
            try:
                text = sealer.reseal_text(each.definition, each.tenant, each.text)
            except (PayloadKeyMissing, PayloadUndecryptable) as error:
                done.failed[f"{type(error).__name__} {error.key_id}"] += 1
                continue
            if text is not None:
                changes.append((each, text))
        if changes and not dry_run:
            await storage.jobs.replace_ciphertext(changes)
        done.changed += len(changes)
    return done


def create_sealer(settings: Settings) -> Sealer:
    """What encrypts payloads as the settings say."""
    return Sealer(read_keys(settings))


def read_keys(settings: Settings) -> list[Key]:
    """The configured keys: those of `encryption.keys`, then those of the file."""
    given = [("encryption.keys", text) for text in settings.encryption.keys]
    if (name := settings.encryption.key_file) is not None:
        try:
            lines = Path(name).read_text("utf-8").splitlines()
        except (OSError, ValueError) as error:
            raise EncryptionKeyInvalid(name, because=f"it cannot be read: {error}") from None
        texts = (line.partition("#")[0].strip() for line in lines)
        given += [(name, text) for text in texts if text]
        if not given:
            raise EncryptionKeyInvalid(name, because="there is no key in it")
    return [_read_key(origin, text) for origin, text in given]


def new_key() -> str:
    """A new random key, as settings have it."""
    return base64.urlsafe_b64encode(os.urandom(KEY_BYTES)).decode()


def _read_key(origin: str, text: str) -> Key:
    try:
        raw = base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_"))
    except ValueError:
        raw = b""
    if len(raw) != KEY_BYTES:
        raise EncryptionKeyInvalid(origin, because=f"a key is {KEY_BYTES} bytes in base64")
    return Key.of(raw)


def _aead() -> Callable[[bytes], Any]:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise ExtraMissing("cryptography", extra="encryption", what="encrypting payloads") from None
    return AESGCM


def _key_id(envelope: str) -> str:
    version, _, rest = envelope.partition(".")
    return rest.partition(".")[0] if version == _VERSION else f"of version {version[:8]}"


def _associated_data(tenant: str, definition: str) -> bytes:
    return json.dumps(["windlass payload", _VERSION, tenant, definition]).encode()


def _derive_key(root: bytes, purpose: bytes) -> bytes:
    return hmac.digest(root, b"windlass " + purpose, hashlib.sha256)
