"""Every exception, with its code, message and hint.

    WindlassError
    ├── 1xxx  the installation
    │   ├── WL1101 DatabaseUnreachable      nothing answers at the database's address
    │   ├── WL1102 DatabaseTimeout          it did not answer in time
    │   ├── WL1103 UnsupportedDatabase      a URL for no database we know, or its driver is missing
    │   ├── WL1104 RowSecurityUnavailable   asked for where the database cannot keep it
    │   ├── WL1105 DatabaseFull             it has no room left to write
    │   ├── WL1106 DatabaseReadOnly         it takes no writes
    │   ├── WL1107 DatabaseAccessDenied     it does not let this account in
    │   ├── WL1108 DatabaseDamaged          its stored data cannot be read
    │   ├── WL1109 DatabaseNotReady         it answers, but is starting, recovering or short of resources
    │   ├── WL1110 ServerUnreachable        nothing answers at the server's address
    │   ├── WL1111 PortUnavailable          another program listens there, or it is forbidden
    │   ├── WL1112 ServerDraining           the server is shutting down
    │   ├── WL1113 DatabaseNotFound         no file to read, and reading creates none
    │   ├── WL1203 SchemaOutdated           migrations are pending
    │   ├── WL1204 SchemaTooNew             a newer Windlass has migrated this database
    │   ├── WL1205 MigrationChanged         an applied migration is no longer what was applied
    │   ├── WL1206 EpochChanged             the database was restored or promoted under a worker
    │   ├── WL1301 SettingsInvalid          every problem with the settings, at once
    │   ├── WL1401 ModuleNotLoaded          a module with jobs cannot be imported
    │   ├── WL1402 AppNotFound              modules were given, but no Windlass app is in them
    │   ├── WL1403 MainGuardMissing         a script enqueues or works when it is imported
    │   ├── WL1501 ExtraMissing             a package that an optional part needs is missing
    │   ├── WL1510 EncryptionKeyInvalid     a key to encrypt payloads with is not valid
    │   ├── WL1521 AuditKeyMissing          an audit chain is signed with a key not configured here
    │   ├── WL1522 AuditKeyInvalid          the key that signs audit chains cannot be used
    │   ├── WL1523 RunAsUnavailable         a command has to run as a user that is out of reach
    │   └── WL1900 ServerFailed             the server failed; its log has the cause
    ├── 2xxx  requests, payloads, definitions, tenants
    │   ├── WL2001 CommandInvalid           a command line that cannot be understood
    │   ├── WL2002 ConfirmationNeeded       a command that needs a confirmation, without a terminal
    │   ├── WL2004 PayloadInvalid           it does not fit the definition's schema
    │   ├── WL2005 PayloadTooLarge
    │   ├── WL2006 PayloadUnstorable        no database could give it back as it is
    │   ├── WL2007 OptionInvalid            a priority, delay, name, duration … out of range
    │   ├── WL2008 FilterInvalid            a filter that cannot be understood
    │   ├── WL2009 IdInvalid                neither an id nor the end of one
    │   ├── WL2101 RequestInvalid           a request over HTTP that cannot be read
    │   ├── WL2102 PathUnknown              nothing is at this path
    │   ├── WL2103 MethodRefused            the path does not take this method
    │   ├── WL2104 RequestRefused           a server refuses the request
    │   ├── WL2105 KeyReused                an idempotency key came with another request
    │   ├── WL2106 KeyInUse                 the request with this key is in progress
    │   ├── WL2107 DefinitionNotFound
    │   ├── WL2108 DefinitionDisabled
    │   ├── WL2109 DefinitionInvalid        a declaration that cannot work
    │   ├── WL2110 CommandTemplateInvalid   a command declared in a way that cannot work
    │   ├── WL2111 ArgumentRefused          a value that cannot be passed to a command
    │   ├── WL2112 DefinitionInUse          it cannot be deleted
    │   ├── WL2113 DefinitionExists
    │   ├── WL2114 JobVerbUnknown           another library\'s verb on a job
    │   ├── WL2201 TenantNotFound
    │   ├── WL2202 TenantSuspended
    │   ├── WL2210 PayloadKeyMissing        encrypted with a key that this process does not have
    │   ├── WL2211 PayloadUndecryptable     encrypted, and changed since
    │   └── WL2220 TriggerUnreadable        its row has fields that cannot be read
    ├── 3xxx  jobs
    │   ├── WL3301 JobNotFound
    │   ├── WL3302 JobStateConflict         the verb does not apply to the job's state
    │   ├── WL3303 AmbiguousId              several things are called what was typed
    │   ├── WL3304 DuplicateJob             only with on_duplicate="error"
    │   ├── WL3305 ParentInvalid
    │   ├── WL3306 DeadGroupNotFound        no dead-lettered job has this cause
    │   ├── WL3307 BatchRefused             jobs of a batch, of which none was stored
    │   ├── WL3401 JobFailed                raised by waiting for a job that failed
    │   ├── WL3402 WaitTimeout
    │   ├── WL3403 ResultInvalid            a handler returned what JSON cannot hold
    │   ├── WL3404 ResultTooLarge           a handler returned more than may be stored
    │   ├── WL3405 JobCanceled              raised by waiting for a job that was canceled
    │   ├── WL3406 JobRejected              waiting for a job that a limit refused
    │   ├── WL3407 ResultMismatch           a result that does not fit its handler's return type
    │   ├── WL3501 TransactionUnsupported   a `tx` we cannot write through
    │   ├── WL3502 OnceUnavailable          a handler called ctx.once without a database
    │   ├── WL3601 WorkerNotFound
    │   ├── WL3602 WorkerGone               not seen for a lease, it takes no orders
    │   └── WL3603 WorkerStopping           it is stopping, and takes no other order
    ├── 4xxx  rules that make jobs
    │   ├── WL4101 TriggerNotFound
    │   ├── WL4102 TriggerExists
    │   ├── WL4103 TriggerRightGone         its owner may not enqueue its definition any more
    │   ├── WL4104 TriggerFieldsMixed       fields of another type of trigger
    │   ├── WL4201 EventNotFound
    │   ├── WL4202 EventChainTooLong        handlers that emit what leads to themselves
    │   ├── WL4401 ScheduleInvalid          a cron expression that cannot be understood
    │   ├── WL4402 ZoneUnknown
    │   ├── WL4403 ScheduleNeverFires       31 February
    │   ├── WL4431 OpenAccessRefused        an API without authentication, asked from elsewhere
    │   ├── WL4432 CrossSiteRefused         a write that a page of another site started
    │   ├── WL4501 TemplateInvalid          a payload template that cannot be used
    │   ├── WL4502 TemplateMissing          a placeholder for a field that is not there
    │   ├── WL4503 TemplateFailed           a template that cannot be filled in with what is there
    │   └── WL4601 ConditionInvalid
    ├── 441x, 442x  invitations and tenants
    │   ├── WL4410 InvitationInvalid        its link is over, or it is not accepted in this way
    │   ├── WL4411 MemberExists
    │   ├── WL4412 SuperadminByInvitation   an account that exists has to accept it
    │   ├── WL4420 TenantExists             or did, and was deleted
    │   └── WL4421 TenantReserved           the installation works with it
    ├── 5xxx  who may do what
    │   ├── WL5101 NotAuthenticated         no credential, or not a valid one
    │   ├── WL5102 Forbidden                a valid one without the right
    │   ├── WL5103 LoginFailed
    │   ├── WL5104 LoginThrottled
    │   ├── WL5105 LinkInvalid              a one-time link, used or too old
    │   ├── WL5106 TenantNeeded             bound to several tenants, and none was named
    │   ├── WL5201 UserNotFound
    │   ├── WL5202 UserExists
    │   ├── WL5203 MemberNotFound
    │   ├── WL5204 TokenNotFound
    │   ├── WL5205 SessionNotFound
    │   ├── WL5301 OperationNotFound
    │   ├── WL5302 OperationTooLarge
    │   ├── WL5303 OperationStateConflict
    │   ├── WL5401 StreamsFull              too many live updates at once
    │   └── WL5402 RequestsThrottled        too many requests
    └── 6xxx  the job library
        ├── WL6101 TableMissing             a table or column of the application is missing
        ├── WL6102 DirectoryMissing         a directory of the application cannot be used
        ├── WL6103 SourceUnsupported        no database that library jobs can use
        ├── WL6104 SettingMissing           a setting that a library job needs is not given
        ├── WL6105 AddressRefused           an address that library jobs may not reach
        └── WL6106 HttpFailed               a request got no response that can be used

    Permanent   raised by a handler: no further attempts
    Stopped     raised into a handler that has to stop

A code never changes its meaning and is never reused. Its exit code and HTTP status stand in tables
of the command line and the API.
"""

from windlass.errors.access import (
    Forbidden,
    InvitationInvalid,
    LinkInvalid,
    LoginFailed,
    LoginThrottled,
    MemberExists,
    MemberNotFound,
    NotAuthenticated,
    OperationNotFound,
    OperationStateConflict,
    OperationTooLarge,
    SessionNotFound,
    SuperadminByInvitation,
    TenantExists,
    TenantNeeded,
    TenantReserved,
    TokenNotFound,
    UserExists,
    UserNotFound,
)
from windlass.errors.base import (
    FieldError,
    WindlassError,
    by_code,
)
from windlass.errors.database import (
    DatabaseAccessDenied,
    DatabaseDamaged,
    DatabaseFull,
    DatabaseNotFound,
    DatabaseNotReady,
    DatabaseOutage,
    DatabaseReadOnly,
    DatabaseTimeout,
    DatabaseUnreachable,
    EpochChanged,
    MigrationChanged,
    RowSecurityUnavailable,
    SchemaOutdated,
    SchemaTooNew,
    UnsupportedDatabase,
)
from windlass.errors.definitions import (
    CommandInvalid,
    ConfirmationNeeded,
    DefinitionDisabled,
    DefinitionExists,
    DefinitionInUse,
    DefinitionInvalid,
    DefinitionNotFound,
    FilterInvalid,
    IdInvalid,
    JobVerbUnknown,
    OptionInvalid,
    PayloadInvalid,
    PayloadKeyMissing,
    PayloadTooLarge,
    PayloadUndecryptable,
    PayloadUnstorable,
    TenantNotFound,
    TenantSuspended,
)
from windlass.errors.handlers import (
    Permanent,
    Stopped,
)
from windlass.errors.installation import (
    AppNotFound,
    AuditKeyInvalid,
    AuditKeyMissing,
    EncryptionKeyInvalid,
    ExtraMissing,
    MainGuardMissing,
    ModuleNotLoaded,
    PortUnavailable,
    RunAsUnavailable,
    ServerDraining,
    SettingProblem,
    SettingsInvalid,
)
from windlass.errors.jobs import (
    AmbiguousId,
    BatchRefused,
    DeadGroupNotFound,
    DuplicateJob,
    JobCanceled,
    JobFailed,
    JobNotFound,
    JobRejected,
    JobStateConflict,
    OnceUnavailable,
    ParentInvalid,
    ResultInvalid,
    ResultMismatch,
    ResultTooLarge,
    TransactionUnsupported,
    WaitTimeout,
    WorkerGone,
    WorkerNotFound,
    WorkerStopping,
)
from windlass.errors.library import (
    AddressRefused,
    DirectoryMissing,
    HttpFailed,
    SettingMissing,
    SourceUnsupported,
    TableMissing,
)
from windlass.errors.requests import (
    CrossSiteRefused,
    KeyInUse,
    KeyReused,
    MethodRefused,
    OpenAccessRefused,
    PathUnknown,
    RequestInvalid,
    RequestRefused,
    RequestsThrottled,
    ServerFailed,
    ServerUnreachable,
    StreamsFull,
)
from windlass.errors.schedules import ScheduleInvalid, ScheduleNeverFires, ZoneUnknown
from windlass.errors.templates import (
    ArgumentRefused,
    CommandTemplateInvalid,
    ConditionInvalid,
    TemplateFailed,
    TemplateInvalid,
    TemplateMissing,
)
from windlass.errors.triggers import (
    EventChainTooLong,
    EventNotFound,
    TriggerExists,
    TriggerFieldsMixed,
    TriggerNotFound,
    TriggerRightGone,
    TriggerUnreadable,
)

__all__ = [
    "AddressRefused",
    "AmbiguousId",
    "AppNotFound",
    "ArgumentRefused",
    "AuditKeyInvalid",
    "AuditKeyMissing",
    "BatchRefused",
    "CommandInvalid",
    "CommandTemplateInvalid",
    "ConditionInvalid",
    "ConfirmationNeeded",
    "CrossSiteRefused",
    "DatabaseAccessDenied",
    "DatabaseDamaged",
    "DatabaseFull",
    "DatabaseNotFound",
    "DatabaseNotReady",
    "DatabaseOutage",
    "DatabaseReadOnly",
    "DatabaseTimeout",
    "DatabaseUnreachable",
    "DeadGroupNotFound",
    "DefinitionDisabled",
    "DefinitionExists",
    "DefinitionInUse",
    "DefinitionInvalid",
    "DefinitionNotFound",
    "DirectoryMissing",
    "DuplicateJob",
    "EncryptionKeyInvalid",
    "EpochChanged",
    "EventChainTooLong",
    "EventNotFound",
    "ExtraMissing",
    "FieldError",
    "FilterInvalid",
    "Forbidden",
    "HttpFailed",
    "IdInvalid",
    "InvitationInvalid",
    "JobCanceled",
    "JobFailed",
    "JobNotFound",
    "JobRejected",
    "JobStateConflict",
    "JobVerbUnknown",
    "KeyInUse",
    "KeyReused",
    "LinkInvalid",
    "LoginFailed",
    "LoginThrottled",
    "MainGuardMissing",
    "MemberExists",
    "MemberNotFound",
    "MethodRefused",
    "MigrationChanged",
    "ModuleNotLoaded",
    "NotAuthenticated",
    "OnceUnavailable",
    "OpenAccessRefused",
    "OperationNotFound",
    "OperationStateConflict",
    "OperationTooLarge",
    "OptionInvalid",
    "ParentInvalid",
    "PathUnknown",
    "PayloadInvalid",
    "PayloadKeyMissing",
    "PayloadTooLarge",
    "PayloadUndecryptable",
    "PayloadUnstorable",
    "Permanent",
    "PortUnavailable",
    "RequestInvalid",
    "RequestRefused",
    "RequestsThrottled",
    "ResultInvalid",
    "ResultMismatch",
    "ResultTooLarge",
    "RowSecurityUnavailable",
    "RunAsUnavailable",
    "ScheduleInvalid",
    "ScheduleNeverFires",
    "SchemaOutdated",
    "SchemaTooNew",
    "ServerDraining",
    "ServerFailed",
    "ServerUnreachable",
    "SessionNotFound",
    "SettingMissing",
    "SettingProblem",
    "SettingsInvalid",
    "SourceUnsupported",
    "Stopped",
    "StreamsFull",
    "SuperadminByInvitation",
    "TableMissing",
    "TemplateFailed",
    "TemplateInvalid",
    "TemplateMissing",
    "TenantExists",
    "TenantNeeded",
    "TenantNotFound",
    "TenantReserved",
    "TenantSuspended",
    "TokenNotFound",
    "TransactionUnsupported",
    "TriggerExists",
    "TriggerFieldsMixed",
    "TriggerNotFound",
    "TriggerRightGone",
    "TriggerUnreadable",
    "UnsupportedDatabase",
    "UserExists",
    "UserNotFound",
    "WaitTimeout",
    "WindlassError",
    "WorkerGone",
    "WorkerNotFound",
    "WorkerStopping",
    "ZoneUnknown",
    "by_code",
]
