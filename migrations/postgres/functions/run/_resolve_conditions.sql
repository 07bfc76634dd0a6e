-- Skips or fails the ready steps whose conditions do not hold, until there are none.
-- Returns false if that failed the run.
create or replace function pgflow._resolve_conditions(run_id uuid) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_status text;
  v_fails text;
  v_skips text[];
  v_cascades text[];
  v_step text;
begin
  select r.status into v_status from pgflow.runs r
   where r.run_id = _resolve_conditions.run_id for no key update;
  if v_status is distinct from 'started' then
    return v_status is distinct from 'failed';
  end if;

  -- Each wave skips a step or is the last.
  loop
    select
      (array_agg(u.step_slug) filter (where u.when_unmet = 'fail'))[1],
      array_agg(u.step_slug) filter (where u.when_unmet = 'skip'),
      array_agg(u.step_slug) filter (where u.when_unmet = 'skip-cascade')
    into v_fails, v_skips, v_cascades
    from pgflow._unmet_steps(_resolve_conditions.run_id) u;

    if v_fails is not null then
      perform pgflow._fail_step(_resolve_conditions.run_id, v_fails, 'Condition not met');
      return false;
    end if;
    if v_skips is not null then
      perform pgflow._skip_steps(_resolve_conditions.run_id, v_skips, 'condition_unmet', null);
      perform pgflow._release_dependents(_resolve_conditions.run_id, v_skips);
    end if;
    foreach v_step in array coalesce(v_cascades, '{}') loop
      perform pgflow._skip_with_dependents(_resolve_conditions.run_id, v_step, 'condition_unmet');
    end loop;
    if v_skips is null then
      return true;
    end if;
  end loop;
end;
$$;
