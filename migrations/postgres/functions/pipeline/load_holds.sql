-- Who holds units of these resources: holds whose leases are there, of jobs and, without a place, of attempts at tasks. Messages of one
-- `batch` hold together.
create or replace function pgflow.load_holds(resources text[])
returns table (resource text, job text, place bigint, token text, batch text, units int, fence bigint)
language plpgsql security definer
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
    select h.resource, h.job, j.seq, h.token::text, h.batch, h.units, h.fence
      from pgflow.permit_holds h join pgflow.jobs j on j.id = h.job and j.token = h.token
     where h.resource = any (load_holds.resources)
    union all
    select h.resource, a.attempt, 0::bigint, a.attempt, a.attempt, h.units, h.fence
      from pgflow._holds_of_tasks(load_holds.resources) h
      cross join lateral (select concat_ws('/', h.run_id, h.step_slug, h.task_index, h.attempt) as attempt offset 0) a;
end;
$$;
