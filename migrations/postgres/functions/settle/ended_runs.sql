-- Those of these runs that the current transaction has ended, with what they failed with.
create or replace function pgflow.ended_runs(run_ids uuid[]) returns table (flow_slug text, run_id uuid, status text, error text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    select r.flow_slug, r.run_id, r.status,
           case when r.status = 'failed' then (
             select s.error_message from pgflow.step_states s
              where s.run_id = r.run_id and s.status = 'failed' order by s.failed_at desc limit 1) end
      from (select distinct k from unnest(run_ids) k) i(run_id)
      cross join lateral (
        select r.flow_slug, r.run_id, r.status, r.xmin as writer from pgflow.runs r where r.run_id = i.run_id offset 0) r
     where r.status <> 'started' and r.writer = pg_current_xact_id_if_assigned()::xid;
end;
$$;
