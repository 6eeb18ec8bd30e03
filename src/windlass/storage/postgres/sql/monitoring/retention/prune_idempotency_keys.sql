-- Deletes some expired responses, and keys whose request never got one.
-- Materialized: a plan that ran it for each row would lock other rows each time.
with expired as materialized (
    select key_hash from windlass_answers where until <= {now} order by until limit :most
        for update skip locked
),
gone as (
    delete from windlass_answers where key_hash in (select key_hash from expired)
    returning 1
)
select count(*) as pruned from gone
