-- The names of tokens, revoked ones too.
select k.id, k.name from {ids} i {join} windlass_tokens k on k.id = i.id
