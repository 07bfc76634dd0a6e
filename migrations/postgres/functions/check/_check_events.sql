-- Events: dense, known words, each transition once (a failure once per retry), causes before effects. Runs
-- that do not record are left out.
create or replace function pgflow._check_events() returns table (invariant text, run_id uuid, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with word as materialized (select * from pgflow._event_words())
  select 'event_gap', e.run_id, format('%s events, the last is number %s', count(*), max(e.seq))
    from word e group by e.run_id
  having count(*) <> max(e.seq) or min(e.seq) <> 1 or count(distinct e.seq) <> count(*)
  union all
  select 'event_orphan', e.run_id, 'events of a run that is not there, or records none'
    from pgflow.event_log e
   where not exists (select from pgflow.runs r where r.run_id = e.run_id and r.record_events)
   group by e.run_id
  union all
  select 'event_word', e.run_id, format('event %s is no event: %s %s', e.seq, e.event_type, e.step_slug)
    from word e
   where case
     when e.event_type in ('run:started', 'run:completed', 'run:failed', 'run:cancelled', 'run:retried')
       then e.step_slug is not null
     when e.event_type in ('step:started', 'step:completed', 'step:failed', 'step:skipped') or pgflow._is_about_wait(e.event_type)
       then not exists (select from pgflow.step_states s where s.run_id = e.run_id and s.step_slug = e.step_slug)
     else true end
  union all
  select 'event_details', e.run_id, format('%s details of %s events', cardinality(e.details), cardinality(e.events))
    from pgflow.event_log e
   where cardinality(e.details) <> cardinality(e.events)
  union all
  select 'event_details', e.run_id, format('event %s says something else than %s does', e.seq, e.event_type)
    from word e
    cross join lateral (select coalesce(e.detail, '{}') as detail) d
   where case
     when jsonb_typeof(d.detail) <> 'object' then true
     else not d.detail ?& case e.event_type
         when 'run:cancelled' then '{reason}' when 'run:retried' then '{retried_at}' when 'run:failed' then '{failed_at}'
         when 'step:failed' then '{failed_at, error_message}' when 'step:skipped' then '{skip_reason}'
         when 'step:waiting' then '{task_index, on, until}'
         when 'step:signal_dropped' then '{task_index, path, message}'
         else case when pgflow._is_about_wait(e.event_type) then '{task_index}' else '{}' end end::text[]
       or d.detail - case e.event_type
         when 'run:cancelled' then '{reason}' when 'run:retried' then '{retried_at}'
         when 'run:failed' then '{failed_at, error_message}' when 'step:failed' then '{failed_at, error_message}'
         when 'step:started' then '{remaining_tasks}' when 'step:completed' then '{remaining_tasks, remaining_deps}'
         when 'step:skipped' then '{skip_reason, error_message, flow_slug}' when 'step:waiting' then '{task_index, on, until}'
         when 'step:signal_dropped' then '{task_index, path, message}'
         else case when pgflow._is_about_wait(e.event_type) then '{task_index}' else '{}' end end::text[] <> '{}'
     end
  union all
  select 'event_twice', e.run_id, format('%s %s was recorded %s times', e.event_type, e.step_slug, count(*))
    from (
      select e.run_id, e.event_type, e.step_slug,
             case when e.event_type in ('run:failed', 'run:retried', 'step:failed', 'step:started') then
               count(*) filter (where e.event_type = 'run:retried') over (partition by e.run_id order by e.seq)
             end as retries
        from word e
       -- A task may wait in each of its attempts.
       where not pgflow._is_about_wait(e.event_type)
    ) e
   group by e.run_id, e.event_type, e.step_slug, e.retries having count(*) > 1
  union all
  select 'event_of_retry', e.run_id, format('%s, but it has failed %s times and was retried %s times',
                                            r.status, e.failures, e.retries)
    from (
      select e.run_id, count(*) filter (where e.event_type = 'run:failed') as failures,
             count(*) filter (where e.event_type = 'run:retried') as retries
        from word e group by e.run_id
    ) e
    join pgflow.runs r on r.run_id = e.run_id
   where e.failures - e.retries <> case when r.status = 'failed' then 1 else 0 end
  union all
  select 'event_order', c.run_id, format('%s comes before the end of %s', c.step_slug, p.step_slug)
    from pgflow.runs r
    join pgflow.deps d on d.flow_slug = r.flow_slug
    join word c on c.run_id = r.run_id and c.step_slug = d.step_slug
      and c.event_type in ('step:started', 'step:completed')
    left join word p on p.run_id = r.run_id and p.step_slug = d.dep_slug
      and p.event_type in ('step:completed', 'step:skipped')
   where r.record_events and (p.seq is null or p.seq > c.seq)
  union all
  select 'event_order', e.run_id, format('the first event is %s', e.event_type)
    from word e where e.seq = 1 and e.event_type <> 'run:started'
  union all
  select 'event_times', e.run_id, format('the events up to %s are older than what came before, or than the run', e.last_seq)
    from (
      select e.run_id, e.last_seq, e.at, lag(e.at) over (partition by e.run_id order by e.last_seq) as before
        from pgflow.event_log e
    ) e
    join pgflow.runs r on r.run_id = e.run_id
   where e.at < coalesce(e.before, r.started_at) or e.at > clock_timestamp() + interval '1 day'
$$;
