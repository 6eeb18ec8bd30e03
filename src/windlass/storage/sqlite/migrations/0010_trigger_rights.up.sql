-- Whose right to enqueue a trigger fires under; null is the program's own. Triggers that people made before
-- are held to their makers' rights. Safe while older code runs: it leaves the column alone.
alter table windlass_triggers add column saved_by text;

update windlass_triggers set saved_by = created_by
where origin = 'operator' and (created_by like 'user:%' or created_by like 'token:%');
