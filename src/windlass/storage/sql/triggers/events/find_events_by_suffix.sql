-- The events whose id, written without dashes, ends like this: all ids are looked through.
select id from windlass_events
where substr(id, -6) = substr(:suffix, -6)
    and substr(replace(id, '-', ''), -length(:suffix)) = :suffix
    and (:tenant_id is null or tenant_id = :tenant_id)
order by id desc limit :most
