-- How many ready jobs each need has, as the table says.
create or replace function pgflow._ready_by_table() returns table (need text, jobs bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_indexscan = off
set enable_indexonlyscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
  return query select j.need, count(*) from pgflow.jobs j where j.state = 'ready' group by 1;
end;
$$;
