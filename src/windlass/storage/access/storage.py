"""Storage verbs on tenants, users, credentials, the audit and idempotency keys."""

from windlass.storage.access.accounts import AccountVerbs
from windlass.storage.access.audit import AuditVerbs
from windlass.storage.access.credentials import CredentialVerbs
from windlass.storage.access.idempotency import IdempotencyVerbs
from windlass.storage.access.invitations import InvitationVerbs
from windlass.storage.access.tenants import TenantVerbs
from windlass.storage.database import Database


class AccessStorage(
    AccountVerbs, AuditVerbs, CredentialVerbs, IdempotencyVerbs, InvitationVerbs, TenantVerbs
):
    def __init__(self, database: Database) -> None:
        self._db = database
