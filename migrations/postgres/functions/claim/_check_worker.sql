-- Reports an unknown worker as the foreign key would that step_tasks does without: checking it
-- once per call instead of once per row is what keeps claims cheap. The worker stays until the caller
-- commits. Returns whether it fetches what is large by itself: see _heavy_input.
create or replace function pgflow._check_worker(worker_id uuid) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fetches boolean;
begin
  if _check_worker.worker_id is null then
    return false;
  end if;
  -- One that is just being deleted counts as gone: a claim waits for nobody.
  select w.fetches_outputs into v_fetches
    from pgflow.workers w where w.worker_id = _check_worker.worker_id for key share skip locked;
  if not found then
    raise exception 'insert or update on table "step_tasks" violates foreign key constraint "step_tasks_last_worker_id_fkey"'
      using errcode = 'foreign_key_violation',
            detail = format('Key (last_worker_id)=(%s) is not present in table "workers".', _check_worker.worker_id),
            schema = 'pgflow', table = 'step_tasks', constraint = 'step_tasks_last_worker_id_fkey';
  end if;
  return v_fetches;
end;
$$;
