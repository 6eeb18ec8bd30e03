-- Gives a job, in whichever table it is, another ciphertext of the same payload, unless its payload
-- was changed.
update windlass_live set payload = {json :payload} where id = :id and {text payload} = :before;

update windlass_later set payload = {json :payload} where id = :id and {text payload} = :before;

update windlass_ended set payload = {json :payload} where id = :id and {text payload} = :before
