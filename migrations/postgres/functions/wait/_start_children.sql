-- Starts the runs or submits the jobs that a wait is for, as children of it. All of them or none: returns why not.
create or replace function pgflow._start_children(wait pgflow.waits, children jsonb) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids text[];
  v_too_many text := pgflow._too_many_children(children);
  v_kind text := case wait.kind when 'runs' then 'run' else 'job' end;
begin
  if v_too_many is not null then
    return v_too_many;
  end if;
  if wait.kind = 'runs' then
    v_ids := pgflow._start_child_runs(children);
  else
    v_ids := pgflow._submit_child_jobs(children, wait.run_id);
  end if;
  insert into pgflow.awaited (run_id, step_slug, task_index, attempt, place, kind, child)
  select wait.run_id, wait.step_slug, wait.task_index, wait.attempt, c.n - 1, v_kind, c.id
    from unnest(v_ids) with ordinality c(id, n);
  update pgflow.waits w set open_children = cardinality(v_ids)
   where w.run_id = wait.run_id and w.step_slug = wait.step_slug and w.task_index = wait.task_index;
  -- What has ended already tells nobody any more.
  perform pgflow._note_end(v_kind, c.id)
     from unnest(v_ids) c(id)
    where case v_kind
      when 'run' then exists (select from pgflow.runs r where r.run_id = c.id::uuid and r.status <> 'started')
      else not exists (select from pgflow.jobs j where j.id = c.id) end;
  return null;
exception when others then
  -- Not what another try of the same call may not meet.
  if left(sqlstate, 2) in ('40', '53', '55', '57', '58', 'XX') then
    raise;
  end if;
  return case when sqlstate = '54000' then 'cannot store the input of a child: ' else '' end || sqlerrm;
end;
$$;
