-- What a worker found out about a schedule: which moments have come, with the ids of their runs, and which one is next. Nothing
-- happens if the schedule has changed since the worker saw it. Without a next moment it is over, with a problem it is broken; with a
-- refusal its moments start no run, and it goes on.
create or replace function pgflow.advance_schedule(
  name text, revision bigint, due timestamptz[], run_ids uuid[], next_at timestamptz, problem text default null,
  input jsonb default null, refusal text default null,
  out outcome text, out started uuid[], out flow_slugs text[], out skipped int
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_old pgflow.schedules;
  v_new pgflow.schedules;
  v_due record;
  v_start record;
  -- The clock may have gone back since the worker looked: such a moment is still to come.
  v_early timestamptz;
begin
  select s.* into v_old from pgflow.schedules s where s.name = advance_schedule.name for update;
  if v_old.name is null or v_old.revision <> advance_schedule.revision or v_old.paused_at is not null then
    outcome := 'superseded';
    return;
  end if;
  outcome := 'fired';
  v_new := v_old;
  select * into v_due from pgflow._choose_moments(v_old, advance_schedule.due, advance_schedule.run_ids);
  skipped := v_due.skipped;
  v_new.after_at := coalesce(v_due.last, v_old.after_at);
  select * into v_start from pgflow._moments_to_start(v_old, v_due.moments, v_due.run_ids_chosen);
  skipped := skipped + v_start.skipped;
  v_new.queued_at := v_start.queued_at;
  v_new.queued_runs := v_start.queued_runs;
  started := v_start.run_ids;
  if advance_schedule.refusal is not null then
    skipped := skipped + cardinality(started);
    started := '{}';
  end if;
  v_early := (select min(d.at) from unnest(advance_schedule.due) d(at) where d.at > v_new.after_at and d.at > clock_timestamp());
  v_new.status := case when v_early is not null then 'active'
                       when advance_schedule.problem is not null then 'broken'
                       when advance_schedule.next_at is null then 'over' else 'active' end;
  v_new.next_at := case when v_early is not null then v_early
                        when advance_schedule.problem is null then advance_schedule.next_at end;
  v_new.error := coalesce(
    left(coalesce(advance_schedule.problem, advance_schedule.refusal), pgflow._max_error_length()), case when cardinality(started) = 0 then v_old.error end);
  if cardinality(started) > 0 then
    v_new.last_at := v_start.moments[cardinality(started)];
    v_new.last_run := started[cardinality(started)];
    select s.flow_slugs, coalesce(s.error, v_new.error) into flow_slugs, v_new.error
      from pgflow._start_scheduled(v_old, started, coalesce(advance_schedule.input, v_old.input)) s;
  end if;
  if v_new is distinct from v_old then
    update pgflow.schedules s
       set revision = v_old.revision + 1, status = v_new.status, after_at = v_new.after_at, next_at = v_new.next_at,
           queued_at = v_new.queued_at, queued_runs = v_new.queued_runs, last_at = v_new.last_at,
           last_run = v_new.last_run, error = v_new.error
     where s.name = v_old.name;
  end if;
end;
$$;
