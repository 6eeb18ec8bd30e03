-- Returns null: there is no server process.
select null as number
