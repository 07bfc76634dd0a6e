-- Starts a run under an id of the caller's choice at most once: called again, in whatever session,
-- it says which run is there. Without an id it starts a new one each time. `flow_slug` comes back as
-- the version that the run belongs to. A program says with `versions` what it was compiled for, its own
-- version first, and with `interface` what that takes and puts out: see _flow_to_start. With `begins_at`, or `delay` from
-- now on, its first tasks can be claimed from then on; the run is there at once.
create or replace function pgflow.start_run(
  inout flow_slug text,
  input jsonb,
  inout run_id uuid default null,
  versions int[] default null,
  interface text default null,
  begins_at timestamptz default null,
  delay interval default null,
  out created boolean
)
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
declare
  v_flow text;
  v_constraint text;
  v_delay interval := coalesce(start_run.delay, start_run.begins_at - clock_timestamp());
begin
  created := true;
  if start_run.run_id is null then
    select r.run_id, r.flow_slug into start_run.run_id, start_run.flow_slug
      from pgflow._start_version(
        pgflow._flow_to_start(start_run.flow_slug, start_run.versions, start_run.interface),
        start_run.input, null) r;
    if v_delay > interval '0' then
      perform pgflow._delay_run(start_run.flow_slug, start_run.run_id, v_delay);
    end if;
    return;
  end if;
  v_flow := pgflow._flow_of_run(start_run.flow_slug, start_run.run_id);
  if v_flow is null then
    begin
      select r.flow_slug into v_flow
        from pgflow._start_version(
          pgflow._flow_to_start(start_run.flow_slug, start_run.versions, start_run.interface),
          start_run.input, start_run.run_id) r;
      start_run.flow_slug := v_flow;
      if v_delay > interval '0' then
        perform pgflow._delay_run(v_flow, start_run.run_id, v_delay);
      end if;
      return;
    exception when unique_violation then
      get stacked diagnostics v_constraint = constraint_name;
      -- Somebody was faster, and has committed: what is there now is the run.
      v_flow := pgflow._flow_of_run(start_run.flow_slug, start_run.run_id);
      if v_constraint <> 'runs_pkey' or v_flow is null then
        raise;
      end if;
    end;
  end if;
  start_run.flow_slug := v_flow;
  created := false;
end;
$$;
