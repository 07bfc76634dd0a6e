-- Starts the queued tasks that locked messages stand for. A map task gets its element; any other the run's input and the
-- outputs of its completed dependencies. Returns the tasks, and the messages of those that have to be asked for again.
--
-- No more is handed out at once than 64 MB of text, or one task; `taken` is what the claim has already, of other queues. Where it could be more by what is known without looking at
-- each, _start_measured does the same task by task: a payload has no more bytes than the limit allows, and
-- the elements of an array together no more than the array.
--
-- A lease counts from started_at, so that is never more than a second ago, however old the transaction.
--
-- A task that somebody holds a lock on is left alone: messages are locked before tasks here and
-- after them everywhere else, so a claim must wait for no task.
create or replace function pgflow._start_messages(
  flow_slug text,
  msg_ids bigint[],
  bodies jsonb[],
  worker_id uuid,
  taken bigint,
  out tasks pgflow.step_task_record[],
  out over bigint[],
  -- Null where nobody had to measure.
  out bytes bigint
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  -- A limit that was higher before has let more in.
  v_payload bigint := (select greatest(l.max_payload_bytes, 4194304) from pgflow.limits l);
  v_fetches boolean := pgflow._check_worker(_start_messages.worker_id);
  v_fits boolean;
begin
  if cardinality(msg_ids) > 1 and _start_messages.taken + pgflow._heavy_bytes() <= pgflow._claim_bytes() then
    tasks := pgflow._start_part_of_map(_start_messages.flow_slug, msg_ids, bodies, worker_id);
    if tasks is not null then
      return;
    end if;
  end if;
  with step as materialized (
    -- What the tasks of a step have in common is looked up once. Not the payloads: a row that is
    -- locked or updated takes a copy of all that it is joined with.
    select k.run_id, k.step_slug, k.indexes, k.ids, coalesce(d.opt_timeout, f.opt_timeout) as timeout,
           case when d.step_type = 'single' then d.deps_count end as deps_count,
           case when d.step_type = 'single' or d.deps_count = 0 then
             case when pg_column_size(r.input) < 16000 and pg_column_compression(r.input) is null then octet_length(r.input::text) else v_payload end else 0 end
           + case when d.deps_count = 0 then 0 else coalesce((
               select sum(case when p.output_bytes is not null then p.output_bytes
                            else case when pg_column_size(p.output) < 16000 and pg_column_compression(p.output) is null then octet_length(p.output::text) else v_payload end end)
                 from pgflow.deps e
                 join pgflow.step_states p on p.run_id = k.run_id and p.step_slug = e.dep_slug
                where e.flow_slug = d.flow_slug and e.step_slug = d.step_slug and p.status = 'completed'
             ), 0) end as most
      from (
        select m.run_id, m.step_slug, array_agg(m.task_index) as indexes, array_agg(m.msg_id) as ids
          from pgflow._tasks_of_messages(_start_messages.msg_ids, _start_messages.bodies) m
         group by 1, 2 order by 1, 2
      ) k
      -- Looked up step by step, however few there were when this was planned.
      cross join lateral (select r.input from pgflow.runs r where r.run_id = k.run_id and r.status = 'started' offset 0) r
      cross join lateral (
        select from pgflow.step_states s where s.run_id = k.run_id and s.step_slug = k.step_slug and s.status = 'started' offset 0) s
      join pgflow.steps d on d.flow_slug = _start_messages.flow_slug and d.step_slug = k.step_slug
      join pgflow.flows f on f.flow_slug = d.flow_slug
  ), room as materialized (
    select coalesce(_start_messages.taken + sum(k.most) <= pgflow._claim_bytes() and max(k.most) <= pgflow._heavy_bytes(), true) as fits from step k
  ), started as (
    update pgflow.step_tasks t
       set status = 'started', started_at = greatest(now(), t.queued_at, clock_timestamp() - interval '1 second'),
           attempts_count = t.attempts_count + 1,
           last_worker_id = _start_messages.worker_id, lease_until = null
      from (
        select k.timeout, k.deps_count, t.place
          from step k
          cross join lateral unnest(k.indexes, k.ids) i(task_index, msg_id)
          cross join lateral (
            select t.ctid as place
              from pgflow.step_tasks t
             where t.run_id = k.run_id and t.step_slug = k.step_slug and t.task_index = i.task_index
               and t.message_id = i.msg_id and t.flow_slug = _start_messages.flow_slug and t.status = 'queued'
               and t.permanently_stalled_at is null
               for no key update skip locked
          ) t
         where (select m.fits from room m)
        offset 0
      ) k
     -- By place: a row that is locked stays where it is.
     where t.ctid = k.place
    returning row(
      t.flow_slug, t.run_id, t.step_slug,
      case when k.deps_count is null then t.input
        when k.deps_count = 0 then (
          select jsonb_build_object('run', r.input) from pgflow.runs r where r.run_id = t.run_id)
        else (
          select jsonb_build_object('run', r.input) || coalesce((
            select json_object_agg(p.step_slug, p.output)::jsonb
              from pgflow.deps e
              join pgflow.step_states p on p.run_id = t.run_id and p.step_slug = e.dep_slug
             where e.flow_slug = t.flow_slug and e.step_slug = t.step_slug and p.status = 'completed'
          ), '{}')
            from pgflow.runs r where r.run_id = t.run_id) end,
      t.message_id, t.task_index, t.attempts_count, k.timeout)::pgflow.step_task_record as task
  )
  select (select m.fits from room m), array_agg(s.task) into v_fits, tasks from started s;
  if not v_fits then
    select * into tasks, over, bytes
      from pgflow._start_measured(_start_messages.flow_slug, msg_ids, bodies, worker_id, v_fetches, _start_messages.taken);
  end if;
end;
$$;
