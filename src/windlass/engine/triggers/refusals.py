"""The refusals that make a trigger skip a due time or an event. See decision 0022.

The list is closed: after any other error, above all an outage, a schedule stays due and an event
stays waiting, because the same call may succeed later.
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
#: Refusals after which the trigger is no longer among the due ones. The due time is kept: as if the
#: trigger had been read a moment later, the misfire policy decides about it.
NOT_SCHEDULED = (EnqueueStatus.DISABLED_DEFINITION, EnqueueStatus.SUSPENDED_TENANT)
