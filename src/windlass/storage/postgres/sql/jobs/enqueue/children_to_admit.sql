-- Finds pending jobs whose parents may have ended while they were being stored. An end that could
-- not see all its children has marked itself, and they are looked at too.
with ends as (
    update windlass_ended set unchecked = false
    where id = any(array(select id from windlass_ended where unchecked limit :most))
    returning id
),
unseen as (
    update windlass_later k set unchecked = true
    from windlass_parents p
    where p.parent_id = any(array(select id from ends)) and not p.settled
        and k.id = p.child_id and k.state = 'pending'
    returning k.id
)
(select id from windlass_later where unchecked order by id limit :most)
union
select id from unseen
