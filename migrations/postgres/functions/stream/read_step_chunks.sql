-- Chunks of the stream of a task, and where it stands; no row if there is no such run, or it has no such step.
--
-- What nobody has ended, and whose attempt does not have the task any more, was abandoned. More may come while an attempt may have
-- the task, also when this one has said all: it is not settled yet. A task that waits was. A task that had an attempt, was not completed and said nothing
-- was abandoned, too.
create or replace function pgflow.read_step_chunks(
  run_id uuid, step_slug text, task_index int default 0, from_number bigint default 0, max_chunks int default 256,
  max_bytes int default 1048576
)
returns table (
  number bigint, generation int, data bytea, next_number bigint, newest_generation int, begins_at bigint, has_ended boolean,
  error text, is_over boolean
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    select s.number, s.generation, s.data, s.next_number, s.newest_generation, s.begins_at,
           s.has_ended or w.is_abandoned or w.is_over, case when w.is_abandoned then 'abandoned' else s.error end, w.is_over
      from (
        select o.holder, o.speaker, o.will_end, o.is_lost, p.*
          from (
            select case when r.status = 'started' and p.status = 'started' and t.status = 'started' then t.attempts_count end as holder,
                   case when r.status = 'started' and p.status = 'started' and t.status = 'waiting' then t.attempts_count end as speaker,
                   r.status <> 'started' or p.status not in ('created', 'started')
                     or (p.status = 'started' and coalesce(t.status not in ('queued', 'started', 'waiting'), true)) as will_end,
                   coalesce(t.attempts_count > 0 and t.status <> 'completed', false) as is_lost
              from pgflow.runs r
              join pgflow.step_states p on p.run_id = r.run_id and p.step_slug = read_step_chunks.step_slug
              left join pgflow.step_tasks t
                on t.run_id = r.run_id and t.step_slug = p.step_slug and t.task_index = read_step_chunks.task_index
             where r.run_id = read_step_chunks.run_id
          ) o
          cross join lateral pgflow._read_stream(
            read_step_chunks.run_id, read_step_chunks.step_slug, read_step_chunks.task_index, read_step_chunks.from_number,
            read_step_chunks.max_chunks, read_step_chunks.max_bytes) p
      ) s
      cross join lateral (
        select case when s.newest_generation = 0 then s.will_end and s.is_lost
                    else not s.has_ended and s.holder is distinct from s.newest_generation end as is_abandoned,
               s.will_end or coalesce(s.has_ended and s.error is null and s.speaker = s.newest_generation, false) as is_over
      ) w
     order by s.number;
end;
$$;
