-- Ends those of these jobs that a lease which ran out has left as crashed or cancelled. Waits for nobody: what somebody holds is the sweep's.
create or replace function pgflow._end_marked(p_ids text[], p_worker text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_over record;
begin
  select array_agg(j.id order by j.seq) as ids, array_agg(j.state order by j.seq) as outcomes
    into v_over from pgflow.jobs j where j.id = any (p_ids) and j.state in ('crashed', 'cancelled');
  if v_over.ids is not null and pgflow._lock_jobs_at_once(pgflow._concerned_jobs(v_over.ids)) then
    perform pgflow._end_jobs(v_over.ids, v_over.outcomes, null, null, p_worker);
  end if;
end;
$$;
