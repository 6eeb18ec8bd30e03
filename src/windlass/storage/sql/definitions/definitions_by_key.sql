-- The definitions with these keys, as they stand now.
select d.*
from {known} k {join} windlass_definitions d {index primary} on d.{name key} = k.{name key}
order by d.{name key} {for update}
