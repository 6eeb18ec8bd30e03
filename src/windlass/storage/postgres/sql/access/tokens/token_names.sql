-- The names of tokens, revoked ones too.
select id, name from windlass_tokens where id = any(array(select id from {ids} i))
