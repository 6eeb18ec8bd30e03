-- Deletes some expired responses, and keys whose request never got one.
with gone as (
    delete from windlass_answers where key_hash in (
        select key_hash from windlass_answers where until <= {now} order by until limit :most
            for update skip locked)
    returning 1
)
select count(*) as pruned from gone
