"""Signatures of where audit chains end: HMAC-SHA256 with a key that is not in the database."""

import hashlib
import hmac
import json
from dataclasses import dataclass
from enum import StrEnum

#: Ties a signature to this use, should one key be used for several things.
_CONTEXT = b"windlass audit signature 1\0"
_ID_LENGTH = 8
_DIGEST_LENGTH = hashlib.sha256().digest_size * 2
_UNTRUSTED = "untrusted:"

Statement = tuple[str | int, ...]


def chain_end_statement(tenant: str, sequence: int, hash: str) -> Statement:
    """The statement that a chain ends with this entry."""
    return ("head", tenant, sequence, hash)


def chain_list_statement(number: int, tenant: str) -> Statement:
    """The statement that a chain was started as the one of this number."""
    return ("chain", number, tenant)


def chain_count_statement(chains: int) -> Statement:
    """The statement that so many chains were started."""
    return ("registry", chains)


class SignatureState(StrEnum):
    """Result of checking a signature."""

    VALID = "valid"
    MISSING = "missing"  #: there is none
    INVALID = "invalid"  #: it belongs to another statement, or is no signature
    UNKNOWN_KEY = "unknown_key"  #: it was made with a key that is not configured here
    UNCHECKED = "unchecked"  #: there is one, and no key to check it with
    UNSIGNED = "unsigned"  #: there is none, and no key to sign with


@dataclass(frozen=True, slots=True, repr=False)
class AuditKeys:
    """The key that signs, and older ones whose signatures are still accepted."""

    current: bytes
    old: tuple[bytes, ...] = ()

    def sign(self, statement: Statement) -> str:
        """The signature of a statement: the key's id and a digest."""
        return f"{_id(self.current)}:{_digest(self.current, statement)}"

    def check(self, signature: str | None, statement: Statement) -> SignatureState:
        """Check a signature against this statement."""
        if signature is None:
            return SignatureState.MISSING
        id, _, digest = signature.partition(":")
        for key in (self.current, *self.old):
            if id == _id(key):
                good = hmac.compare_digest(digest.encode(), _digest(key, statement).encode())
                return SignatureState.VALID if good else SignatureState.INVALID
        well_formed = (len(id), len(digest)) == (_ID_LENGTH, _DIGEST_LENGTH)
        return SignatureState.UNKNOWN_KEY if well_formed else SignatureState.INVALID


def untrusted_signature(sequence: int) -> str:
    """Mark in place of a signature, from an entry on that was added to an end without a
    valid one: signing that would hide what was done to the chain before."""
    return f"{_UNTRUSTED}{sequence}"


def untrusted_since(signature: str | None) -> int | None:
    """The entry from which on a chain's end is not signed; None if it is, or never was."""
    number = signature.removeprefix(_UNTRUSTED) if signature else ""
    return int(number) if number != signature and number.isdecimal() else None


def _digest(key: bytes, statement: Statement) -> str:
    return hmac.digest(key, _CONTEXT + json.dumps(statement).encode(), "sha256").hex()


def _id(key: bytes) -> str:
    """A short name of a key, which does not reveal it."""
    return hmac.digest(key, _CONTEXT + b"key id", "sha256").hex()[:_ID_LENGTH]
