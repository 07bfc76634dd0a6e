-- Starts what of some locked messages fits one answer. Returns the tasks, and the messages of those
-- that have to be asked for again.
--
-- A task that nobody can ever be given is marked, and the next sweep ends its step. Not here, because a
-- claim holds messages, and whoever ends a step takes locks that come before those.
create or replace function pgflow._start_fitting(
  flow_slug text,
  msg_ids bigint[],
  bodies jsonb[],
  worker_id uuid,
  out tasks pgflow.step_task_record[],
  out over bigint[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_never pgflow.step_task_record[];
begin
  select array_agg(s.task) filter (where s.fate = 'started'),
         array_agg((s.task).msg_id) filter (where s.fate = 'over'),
         array_agg(s.task) filter (where s.fate = 'never')
    into tasks, over, v_never
    from pgflow._start_messages(_start_fitting.flow_slug, msg_ids, bodies, worker_id) s;
  if v_never is not null then
    update pgflow.step_tasks t
       set permanently_stalled_at = now(),
           error_message = format('Input too large: what step %s is given has more than %s bytes', t.step_slug, pgflow._input_limit())
      from unnest(v_never) n
     where t.run_id = n.run_id and t.step_slug = n.step_slug and t.task_index = n.task_index;
  end if;
end;
$$;
