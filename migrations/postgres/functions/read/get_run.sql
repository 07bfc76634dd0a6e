-- A run without its steps. With `payloads`, also what it was given and what it put out, unless that takes
-- more than 64 KiB where it is stored: then `is_large`, and get_step_outputs reads it piece by piece, from the
-- steps that nothing depends on.
create or replace function pgflow.get_run(run_id uuid, payloads boolean default true)
returns table (
  flow_slug text, status text, remaining_steps int, started_at timestamptz, ended_at timestamptz,
  cancel_reason text, input jsonb, output jsonb, is_large boolean
)
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
    select r.flow_slug, r.status, r.remaining_steps, r.started_at,
           coalesce(r.completed_at, r.failed_at, r.cancelled_at), r.cancel_reason,
           case when get_run.payloads then r.input end,
           case when get_run.payloads and not size.is_large then r.output end,
           size.is_large
      from pgflow.runs r
      -- As it is stored: what is large is not even read to find that out.
      cross join lateral (select coalesce(pg_column_size(r.output), 0) > 65536 as is_large) size
     where r.run_id = get_run.run_id;
end;
$$;
