-- Returns settings of the file that matter to a queue, as this connection has them.
select 'version' as name, sqlite_version() as value
union all
select 'journal_mode', journal_mode from pragma_journal_mode
union all
select 'synchronous', synchronous from pragma_synchronous
