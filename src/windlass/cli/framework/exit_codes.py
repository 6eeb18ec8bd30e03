"""Exit codes, their meanings, and the table from error classes to exit codes."""

from collections.abc import Mapping
from enum import IntEnum

from windlass import errors
from windlass.errors import WindlassError


class Exit(IntEnum):
    """Exit codes."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    FORBIDDEN = 4
    CONFLICT = 5
    UNREACHABLE = 6
    PARTLY = 7
    JOB_FAILED = 8
    TIMED_OUT = 9
    LEFT_BEHIND = 10
    BLOCKED = 11
    EPOCH_CHANGED = 12
    INTERRUPTED = 130


MEANINGS: Mapping[Exit, str] = {
    Exit.OK: "success; also an empty list, and a worker that has drained",
    Exit.FAILED: "failure; `doctor` and `db check`: something is broken",
    Exit.USAGE: "the command, a setting, a payload or a module is wrong, or a confirmation is missing",
    Exit.NOT_FOUND: "not found",
    Exit.FORBIDDEN: "not signed in, or not allowed",
    Exit.CONFLICT: "conflict: a state, a duplicate or a limit forbids it",
    Exit.UNREACHABLE: "no server or database responds, or it cannot work: full, read-only, not ready",
    Exit.PARTLY: "some changes succeeded, some failed",
    Exit.JOB_FAILED: "the awaited job ended, but did not complete",
    Exit.TIMED_OUT: "the timeout of a wait ran out",
    Exit.LEFT_BEHIND: "a worker's jobs could be neither finished nor handed back in time",
    Exit.BLOCKED: "a handler blocked a worker's event loop past its time limit; the worker ended itself",
    Exit.EPOCH_CHANGED: "a worker's database was restored or promoted: start the worker again",
    Exit.INTERRUPTED: "interrupted by Ctrl-C, or not confirmed",
}


#: Error class -> exit code. A class that is not listed has the code of its base class.
CODES: Mapping[type[WindlassError], Exit] = {
    WindlassError: Exit.FAILED,
    errors.DatabaseUnreachable: Exit.UNREACHABLE,
    errors.DatabaseFull: Exit.UNREACHABLE,
    errors.DatabaseReadOnly: Exit.UNREACHABLE,
    errors.DatabaseAccessDenied: Exit.UNREACHABLE,
    errors.DatabaseDamaged: Exit.UNREACHABLE,
    errors.DatabaseNotReady: Exit.UNREACHABLE,
    errors.DatabaseNotFound: Exit.UNREACHABLE,
    errors.DatabaseTimeout: Exit.UNREACHABLE,
    errors.PortUnavailable: Exit.USAGE,
    errors.EpochChanged: Exit.EPOCH_CHANGED,
    errors.ExtraMissing: Exit.USAGE,
    errors.EncryptionKeyInvalid: Exit.USAGE,
    errors.TableMissing: Exit.USAGE,
    errors.DirectoryMissing: Exit.USAGE,
    errors.AddressRefused: Exit.USAGE,
    errors.HttpFailed: Exit.FAILED,
    errors.SettingMissing: Exit.USAGE,
    errors.SourceUnsupported: Exit.USAGE,
    errors.StreamsFull: Exit.CONFLICT,
    errors.RequestsThrottled: Exit.UNREACHABLE,
    errors.KeyReused: Exit.CONFLICT,
    errors.KeyInUse: Exit.CONFLICT,
    errors.UnsupportedDatabase: Exit.USAGE,
    errors.RowSecurityUnavailable: Exit.USAGE,
    errors.AuditKeyMissing: Exit.USAGE,
    errors.AuditKeyInvalid: Exit.USAGE,
    errors.RunAsUnavailable: Exit.USAGE,
    errors.SchemaOutdated: Exit.USAGE,
    errors.SchemaTooNew: Exit.USAGE,
    errors.MigrationChanged: Exit.USAGE,
    errors.SettingsInvalid: Exit.USAGE,
    errors.ModuleNotLoaded: Exit.USAGE,
    errors.AppNotFound: Exit.USAGE,
    errors.MainGuardMissing: Exit.USAGE,
    errors.ServerDraining: Exit.UNREACHABLE,
    errors.CommandInvalid: Exit.USAGE,
    errors.ConfirmationNeeded: Exit.USAGE,
    errors.PayloadInvalid: Exit.USAGE,
    errors.PayloadTooLarge: Exit.USAGE,
    errors.PayloadUnstorable: Exit.USAGE,
    errors.PayloadKeyMissing: Exit.CONFLICT,
    errors.PayloadUndecryptable: Exit.CONFLICT,
    errors.IdInvalid: Exit.USAGE,
    errors.OptionInvalid: Exit.USAGE,
    errors.RequestInvalid: Exit.USAGE,
    errors.PathUnknown: Exit.NOT_FOUND,
    errors.MethodRefused: Exit.USAGE,
    errors.NotAuthenticated: Exit.FORBIDDEN,
    errors.Forbidden: Exit.FORBIDDEN,
    errors.TriggerRightGone: Exit.FORBIDDEN,
    errors.OpenAccessRefused: Exit.FORBIDDEN,
    errors.CrossSiteRefused: Exit.FORBIDDEN,
    errors.ServerFailed: Exit.FAILED,
    errors.ServerUnreachable: Exit.UNREACHABLE,
    errors.RequestRefused: Exit.FAILED,
    errors.FilterInvalid: Exit.USAGE,
    errors.DefinitionNotFound: Exit.NOT_FOUND,
    errors.DefinitionDisabled: Exit.CONFLICT,
    errors.DefinitionExists: Exit.CONFLICT,
    errors.DefinitionInUse: Exit.CONFLICT,
    errors.DefinitionInvalid: Exit.USAGE,
    errors.JobVerbUnknown: Exit.USAGE,
    errors.TenantNotFound: Exit.NOT_FOUND,
    errors.TenantSuspended: Exit.CONFLICT,
    errors.JobNotFound: Exit.NOT_FOUND,
    errors.JobStateConflict: Exit.CONFLICT,
    errors.AmbiguousId: Exit.USAGE,
    errors.DuplicateJob: Exit.CONFLICT,
    errors.BatchRefused: Exit.USAGE,
    errors.ParentInvalid: Exit.USAGE,
    errors.DeadGroupNotFound: Exit.NOT_FOUND,
    errors.JobFailed: Exit.JOB_FAILED,
    errors.JobCanceled: Exit.JOB_FAILED,
    errors.JobRejected: Exit.CONFLICT,
    errors.ResultMismatch: Exit.FAILED,
    errors.WaitTimeout: Exit.TIMED_OUT,
    errors.ResultInvalid: Exit.FAILED,
    errors.ResultTooLarge: Exit.FAILED,
    errors.TransactionUnsupported: Exit.USAGE,
    errors.OnceUnavailable: Exit.USAGE,
    errors.WorkerNotFound: Exit.NOT_FOUND,
    errors.WorkerGone: Exit.CONFLICT,
    errors.WorkerStopping: Exit.CONFLICT,
    errors.TriggerNotFound: Exit.NOT_FOUND,
    errors.TriggerExists: Exit.CONFLICT,
    errors.TriggerFieldsMixed: Exit.USAGE,
    errors.TriggerUnreadable: Exit.CONFLICT,
    errors.EventNotFound: Exit.NOT_FOUND,
    errors.EventChainTooLong: Exit.CONFLICT,
    errors.ScheduleInvalid: Exit.USAGE,
    errors.ZoneUnknown: Exit.USAGE,
    errors.ScheduleNeverFires: Exit.USAGE,
    errors.TemplateInvalid: Exit.USAGE,
    errors.TemplateMissing: Exit.FAILED,
    errors.TemplateFailed: Exit.FAILED,
    errors.ConditionInvalid: Exit.USAGE,
    errors.CommandTemplateInvalid: Exit.USAGE,
    errors.ArgumentRefused: Exit.FAILED,
    errors.NotAuthenticated: Exit.FORBIDDEN,
    errors.Forbidden: Exit.FORBIDDEN,
    errors.LoginFailed: Exit.FORBIDDEN,
    errors.LoginThrottled: Exit.FORBIDDEN,
    errors.LinkInvalid: Exit.FORBIDDEN,
    errors.TenantNeeded: Exit.USAGE,
    errors.UserNotFound: Exit.NOT_FOUND,
    errors.UserExists: Exit.CONFLICT,
    errors.MemberNotFound: Exit.NOT_FOUND,
    errors.InvitationInvalid: Exit.FORBIDDEN,
    errors.MemberExists: Exit.CONFLICT,
    errors.SuperadminByInvitation: Exit.CONFLICT,
    errors.TenantExists: Exit.CONFLICT,
    errors.TenantReserved: Exit.CONFLICT,
    errors.TokenNotFound: Exit.NOT_FOUND,
    errors.SessionNotFound: Exit.NOT_FOUND,
    errors.OperationNotFound: Exit.NOT_FOUND,
    errors.OperationTooLarge: Exit.USAGE,
    errors.OperationStateConflict: Exit.CONFLICT,
}


def code_of(error: type[WindlassError]) -> Exit:
    """The exit code that an error of this class leads to."""
    return next(CODES[kind] for kind in error.__mro__ if kind in CODES)
