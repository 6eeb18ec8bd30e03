-- One job in whichever table it is, if the scope may see it.
select * from windlass_live where id = :id and (:tenant_id is null or tenant_id = :tenant_id)
union all
select * from windlass_later where id = :id and (:tenant_id is null or tenant_id = :tenant_id)
union all
select * from windlass_ended where id = :id and (:tenant_id is null or tenant_id = :tenant_id)
