-- Starts runs of a schedule, in the caller's transaction: their flows by version, and why one of them was refused. What is wrong
-- with the database and not with the run is the caller's to try again.
create or replace function pgflow._start_scheduled(
  schedule pgflow.schedules, run_ids uuid[], input jsonb, out flow_slugs text[], out error text
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_run uuid;
  v_flow text;
begin
  flow_slugs := '{}';
  foreach v_run in array run_ids loop
    begin
      select s.flow_slug into v_flow
        from pgflow.start_run(schedule.flow_slug, input, v_run, schedule.versions, schedule.interface) s;
      flow_slugs := flow_slugs || v_flow;
    exception when others then
      if left(sqlstate, 2) in ('40', '53', '55', '57', '58', 'XX') then
        raise;
      end if;
      error := coalesce(error, left(sqlerrm, pgflow._max_error_length()));
    end;
  end loop;
end;
$$;
