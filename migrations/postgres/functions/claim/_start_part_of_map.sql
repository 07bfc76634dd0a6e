-- As _start_messages, where all messages are of one map step, which is what most claims of a wide map are: what its tasks have in
-- common is looked up once, and none of them can be too large. Returns null if it is for that to do.
create or replace function pgflow._start_part_of_map(flow_slug text, msg_ids bigint[], bodies jsonb[], worker_id uuid)
returns pgflow.step_task_record[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_run text := bodies[1] ->> 'run_id';
  v_step text := bodies[1] ->> 'step_slug';
  v_timeout int;
  v_indexes int[];
  v_tasks pgflow.step_task_record[];
begin
  if v_run !~ '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' then
    return null;
  end if;
  select coalesce(d.opt_timeout, f.opt_timeout) into v_timeout
    from pgflow.steps d
    join pgflow.flows f on f.flow_slug = d.flow_slug
   where d.flow_slug = _start_part_of_map.flow_slug and d.step_slug = v_step and d.step_type = 'map'
     and exists (select from pgflow.runs r where r.run_id = v_run::uuid and r.status = 'started')
     and exists (select from pgflow.step_states s where s.run_id = v_run::uuid and s.step_slug = v_step and s.status = 'started')
     and not exists (
       select from pgflow.deps e
         join pgflow.step_states p on p.run_id = v_run::uuid and p.step_slug = e.dep_slug
        where e.flow_slug = d.flow_slug and e.step_slug = d.step_slug and p.output_bytes > pgflow._heavy_bytes())
     and (select greatest(l.max_payload_bytes, 4194304) <= pgflow._heavy_bytes() from pgflow.limits l);
  if v_timeout is null then
    return null;
  end if;
  begin
    select array_agg((b.body ->> 'task_index')::int) into v_indexes
      from unnest(bodies) b(body)
     having bool_and(b.body ->> 'run_id' = v_run and b.body ->> 'step_slug' = v_step);
  exception when invalid_text_representation or numeric_value_out_of_range then
    -- Somebody has sent messages of their own. To look at each is twice the work.
    return null;
  end;
  if v_indexes is null then
    return null;
  end if;
  with started as (
    update pgflow.step_tasks t
       set status = 'started', started_at = greatest(now(), t.queued_at, clock_timestamp() - interval '1 second'),
           attempts_count = t.attempts_count + 1,
           last_worker_id = _start_part_of_map.worker_id, lease_until = null
     -- By place: a row that is locked stays where it is.
     where t.ctid = any (array(
       select t.place
         from unnest(v_indexes, _start_part_of_map.msg_ids) i(task_index, msg_id)
         cross join lateral (
           select t.ctid as place
             from pgflow.step_tasks t
            where t.run_id = v_run::uuid and t.step_slug = v_step and t.task_index = i.task_index
              and t.message_id = i.msg_id and t.flow_slug = _start_part_of_map.flow_slug and t.status = 'queued'
              and t.permanently_stalled_at is null
              for no key update skip locked
         ) t))
    returning row(
      t.flow_slug, t.run_id, t.step_slug, t.input, t.message_id, t.task_index, t.attempts_count, v_timeout
    )::pgflow.step_task_record as task
  )
  select coalesce(array_agg(s.task), '{}') into v_tasks from started s;
  return v_tasks;
end;
$$;
