-- Which code these workers run or ran, and when any worker first ran that code.
select c.worker_id, c.code,
    (select min(o.recorded_at) from windlass_worker_codes o where o.code = c.code) as first_at
from {names} n {join} windlass_worker_codes c on c.worker_id = n.name
