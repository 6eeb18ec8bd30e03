"""The refusals that make a trigger pass a due time or an event by. See decision 0022.

The list is closed: after any other error, an outage above all, a schedule stays due and an event
goes on waiting, because the same call may succeed later.
"""

from windlass.errors import (
    DefinitionDisabled,
    DefinitionNotFound,
    PayloadInvalid,
    PayloadTooLarge,
    PayloadUnstorable,
    TemplateFailed,
    TemplateMissing,
    TenantNotFound,
    TenantSuspended,
    TriggerRightGone,
)
from windlass.storage.jobs.enqueue import EnqueueStatus
from windlass.storage.triggers.triggers import TriggerRefused

REFUSALS = (
    DefinitionDisabled,
    DefinitionNotFound,
    PayloadInvalid,
    PayloadTooLarge,
    PayloadUnstorable,
    TriggerRefused,
    TemplateFailed,
    TemplateMissing,
    TenantNotFound,
    TenantSuspended,
    TriggerRightGone,
)
#: What a job may be refused for that leaves its trigger out of the next look for due ones. The due
#: time is kept: as if the look had come a moment later, the misfire policy decides about it.
NOT_SCHEDULED = (EnqueueStatus.DISABLED_DEFINITION, EnqueueStatus.SUSPENDED_TENANT)
