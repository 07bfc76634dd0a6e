-- Events: dense, each transition once (a failure once per retry), causes before effects. Runs that do
-- not record are left out.
create or replace function pgflow._check_events() returns table (invariant text, run_id uuid, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'event_gap', e.run_id, format('%s events, the last is number %s', count(*), max(e.seq))
    from pgflow.events e group by e.run_id having count(*) <> max(e.seq) or min(e.seq) <> 1
  union all
  select 'event_orphan', e.run_id, 'events of a run that is not there'
    from pgflow.event_log e
   where not exists (select from pgflow.runs r where r.run_id = e.run_id)
   group by e.run_id
  union all
  select 'event_twice', e.run_id, format('%s %s was recorded %s times', e.event_type, e.step_slug, count(*))
    from (
      select e.run_id, e.event_type, e.step_slug,
             case when e.event_type in ('run:failed', 'run:retried', 'step:failed', 'step:started') then
               count(*) filter (where e.event_type = 'run:retried') over (partition by e.run_id order by e.seq)
             end as retries
        from pgflow.events e
    ) e
   group by e.run_id, e.event_type, e.step_slug, e.retries having count(*) > 1
  union all
  select 'event_of_retry', e.run_id, format('%s, but it has failed %s times and was retried %s times',
                                            r.status, e.failures, e.retries)
    from (
      select e.run_id, count(*) filter (where e.event_type = 'run:failed') as failures,
             count(*) filter (where e.event_type = 'run:retried') as retries
        from pgflow.events e group by e.run_id
    ) e
    join pgflow.runs r on r.run_id = e.run_id
   where e.failures - e.retries <> case when r.status = 'failed' then 1 else 0 end
  union all
  select 'event_of_state', r.run_id, format('run is %s, but there is no such event', r.status)
    from pgflow.runs r
   where r.record_events
     and not exists (select from pgflow.events e where e.run_id = r.run_id and e.event_type = 'run:' || r.status)
  union all
  select 'event_of_state', s.run_id, format('step %s is %s, but there is no such event', s.step_slug, s.status)
    from pgflow.step_states s
    join pgflow.runs r on r.run_id = s.run_id and r.record_events
   where s.status <> 'created'
     and not exists (
       select from pgflow.events e
        where e.run_id = s.run_id and e.step_slug = s.step_slug and e.event_type = 'step:' || s.status)
  union all
  select 'event_order', c.run_id, format('%s comes before the end of %s', c.step_slug, p.step_slug)
    from pgflow.runs r
    join pgflow.deps d on d.flow_slug = r.flow_slug
    join pgflow.events c on c.run_id = r.run_id and c.step_slug = d.step_slug
      and c.event_type in ('step:started', 'step:completed')
    left join pgflow.events p on p.run_id = r.run_id and p.step_slug = d.dep_slug
      and p.event_type in ('step:completed', 'step:skipped')
   where r.record_events and (p.seq is null or p.seq > c.seq)
$$;
