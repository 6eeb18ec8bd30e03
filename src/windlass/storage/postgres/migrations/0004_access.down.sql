-- Takes away users, their credentials, the audit chains and bulk operations; jobs stay.

-- What undoes the further indexes of this migration stands below this line.

drop table windlass_operation_items, windlass_operations, windlass_audit_heads, windlass_audit,
    windlass_login_tries, windlass_links, windlass_sessions, windlass_tokens, windlass_members,
    windlass_users;
