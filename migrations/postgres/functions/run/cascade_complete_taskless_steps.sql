-- Completes ready steps that have no tasks (maps over nothing), wave after wave; returns how many.
create or replace function pgflow.cascade_complete_taskless_steps(run_id uuid) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_wave int;
  v_total int := 0;
begin
  for wave in 1 .. 51 loop
    v_wave := pgflow._complete_taskless_wave(cascade_complete_taskless_steps.run_id);
    if v_wave = 0 then
      return v_total;
    end if;
    v_total := v_total + v_wave;
  end loop;
  raise exception 'Cascade loop exceeded safety limit of 50 iterations';
end;
$$;
