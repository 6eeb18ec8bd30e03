-- Gives a job, wherever it rests, another ciphertext of the same payload, unless its payload was changed.
with in_line as (
    update windlass_live set payload = cast(:payload as json)
    where id = cast(:id as uuid) and cast(payload as text) = cast(:before as text) returning id
),
waiting as (
    update windlass_later set payload = cast(:payload as json)
    where id = cast(:id as uuid) and cast(payload as text) = cast(:before as text) returning id
)
update windlass_ended set payload = cast(:payload as json)
where id = cast(:id as uuid) and cast(payload as text) = cast(:before as text)
