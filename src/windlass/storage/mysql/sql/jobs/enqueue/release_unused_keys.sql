-- Releases the keys of jobs that were not stored because another key of theirs was taken. The look
-- comes first and alone: inside the deletion it would lock the place where new jobs go.
select coalesce(json_arrayagg(i.id), '[]') into @windlass_unstored
from {ids} i
left join windlass_live a on a.id = i.id
left join windlass_later b on b.id = i.id
left join windlass_ended c on c.id = i.id
where a.id is null and b.id is null and c.id is null;

delete k
from json_table(@windlass_unstored,
    '$[*]' columns (id char(36) character set ascii collate ascii_bin path '$')) i
straight_join windlass_keys k force index (windlass_keys_job) on k.job_id = i.id
