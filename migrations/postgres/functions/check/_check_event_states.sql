-- Events and states: the newest event of a run or step says what it is now, and since when.
create or replace function pgflow._check_event_states() returns table (invariant text, run_id uuid, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with newest as materialized (
    select distinct on (w.run_id, coalesce(w.step_slug, '')) w.*,
           w.seq < max(w.seq) filter (where w.event_type = 'run:retried') over (partition by w.run_id) as was_retried,
           -- A time in details as it is written; anything else is none.
           case when w.detail ->> 'failed_at' ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d(:\d\d)*$'
             then (w.detail ->> 'failed_at')::timestamptz end as failed_at
      from pgflow._event_words() w
     where not pgflow._is_about_wait(w.event_type)
     order by w.run_id, coalesce(w.step_slug, ''), w.seq desc
  )
  select 'event_of_state', r.run_id, format('run is %s, but its newest event is %s', r.status, e.event_type)
    from pgflow.runs r
    left join newest e on e.run_id = r.run_id and e.step_slug is null
   where r.record_events and case when r.status = 'started' and e.event_type = 'run:retried' then false
                                  else e.event_type is distinct from 'run:' || r.status end
  union all
  select 'event_of_state', s.run_id, format('step %s is %s, but its newest event is %s', s.step_slug, s.status, e.event_type)
    from pgflow.step_states s
    join pgflow.runs r on r.run_id = s.run_id and r.record_events
    left join newest e on e.run_id = s.run_id and e.step_slug = s.step_slug
   where case when s.status <> 'created' then e.event_type is distinct from 'step:' || s.status
              -- Its condition is to be decided again.
              else e.event_type is not null and not (e.event_type = 'step:failed' and coalesce(e.was_retried, false)) end
  union all
  select 'event_of_end', r.run_id, format('run is %s for another reason or at another time than its event says', r.status)
    from pgflow.runs r
    join newest e on e.run_id = r.run_id and e.step_slug is null
   where (r.status = 'cancelled' and r.cancel_reason is distinct from e.detail ->> 'reason')
      or (r.status = 'failed' and r.failed_at is distinct from e.failed_at)
      or greatest(r.completed_at, r.failed_at, r.cancelled_at) > e.at
  union all
  select 'event_of_end', s.run_id, format('step %s is %s for another reason or at another time than its event says',
                                          s.step_slug, s.status)
    from pgflow.step_states s
    join newest e on e.run_id = s.run_id and e.step_slug = s.step_slug
   where (s.status in ('failed', 'skipped') and s.error_message is distinct from e.detail ->> 'error_message')
      or (s.status = 'skipped' and s.skip_reason is distinct from e.detail ->> 'skip_reason')
      or (s.status = 'failed' and s.failed_at is distinct from e.failed_at)
      or greatest(s.started_at, s.completed_at, s.failed_at, s.skipped_at) > e.at
$$;
