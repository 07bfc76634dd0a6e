-- Deletes all that is kept of jobs whose archived rows the caller has deleted: their traces, and what claims of messages knew.
create or replace function pgflow._forget_jobs(p_ids text[], p_places bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from pgflow.job_trace t where t.job = any (p_ids);
  -- Their places stand close together, and the index knows ranges.
  delete from pgflow.job_trace t
   where t.trace_id between (select min(p) from unnest(p_places) p) and (select max(p) from unnest(p_places) p)
     and t.job is null and t.trace_id = any (p_places);
  -- In the order of whoever ends an attempt at one of them.
  perform from pgflow.job_messages m where m.job = any (p_ids) order by m.job for update;
  delete from pgflow.job_messages m where m.job = any (p_ids);
end;
$$;
