-- How many ready jobs each need has, as a claim finds them.
create or replace function pgflow._ready_by_index() returns table (need text, jobs bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
  return query
    select r.need, count(*)
      from (select j.need from pgflow.jobs j where j.state = 'ready' order by j.need, j.priority desc, j.seq) r group by 1;
end;
$$;
