-- Makes this transaction the only one that lists chains, and returns how many are listed.
insert into windlass_audit_registry as r (id, chains) values (1, 0)
on conflict (id) do update set chains = r.chains
returning chains, signature
