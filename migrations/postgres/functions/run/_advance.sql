-- Moves runs on as far as they go without a worker: conditions, steps without tasks, ready steps,
-- the end of the run. The caller holds the runs' locks; messages of what ends here are its to archive.
create or replace function pgflow._advance(run_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run uuid;
  v_lives boolean;
begin
  foreach v_run in array run_ids loop
    loop
      v_lives := pgflow._resolve_conditions(v_run);
      -- Steps completed here may have made others ready, whose conditions are still to be seen.
      exit when not v_lives or pgflow.cascade_complete_taskless_steps(v_run) = 0;
    end loop;
    if v_lives then
      perform pgflow.start_ready_steps(v_run);
      perform pgflow.maybe_complete_run(v_run);
    end if;
  end loop;
end;
$$;
