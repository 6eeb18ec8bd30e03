-- Takes away users, their credentials, the audit chains and bulk operations; jobs stay.

-- What undoes the further indexes of this migration stands below this line.

drop table windlass_operation_items;
drop table windlass_operations;
drop table windlass_audit_heads;
drop table windlass_audit;
drop table windlass_login_tries;
drop table windlass_links;
drop table windlass_sessions;
drop table windlass_tokens;
drop table windlass_members;
drop table windlass_users;
