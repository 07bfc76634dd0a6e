-- Jobs that are over, and the traces of all.
create or replace function pgflow._check_job_archive() returns table (invariant text, run_id uuid, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  -- Planned once per session: this is called often where there are no jobs.
  return query
  select 'archived_job', null::uuid, format('job %s ended %s, which its other columns contradict', a.id, a.outcome)
    from pgflow.job_archive a
   where (a.outcome = 'done' and a.streak > 0)
      or (a.outcome = 'failed' and a.error is null)
      or (a.outcome = 'crashed' and (a.streak = 0 or a.max_attempts is null or a.attempts - a.forgiven < a.max_attempts))
      or (a.outcome = 'expired' and coalesce(a.expires_at > a.archived_at, true))
      or a.failures > a.attempts or a.forgiven not between 0 and a.attempts or a.streak > a.lapses
      or (a.token is not null and (a.attempts < 1 or a.worker is null or a.settled is distinct from a.token))
      or (a.waited_for is not null and (a.outcome in ('done', 'crashed') or a.waited_for = '{}'))
  union all
  select 'archived_job_times', null, format('job %s has moments that cannot be', a.id)
    from pgflow.job_archive a
   where a.created_at > a.archived_at or a.archived_at > clock_timestamp() + interval '1 day'
      or a.cancel_at not between a.created_at and a.archived_at
  union all
  select 'archived_job_trace', null, format('the trace of job %s does not end with %s', a.id, a.outcome)
    from pgflow.job_archive a
    join (
      select distinct on (t.job) t.job, t.kind, t.need, t.token, t.at, t.detail from pgflow.job_events t order by t.job, t.trace_id desc
    ) t on t.job = a.id and t.at >= a.created_at
     -- Older entries may not be the last thing that happened.
     and (select s.trace and coalesce(t.at >= s.traced_since, true) from pgflow.job_settings s)
   where t.kind <> case a.outcome when 'done' then 'finished' else a.outcome end or t.need <> a.need
      or (t.token is not null and t.token is distinct from a.token) or t.detail -> 'retry' is not null
  union all
  -- Pruning takes the trace along.
  select 'job_lost', null, format('job %s is neither live nor archived, but has a trace', coalesce(t.job, 'at place ' || t.place))
    from (select distinct e.job, case when e.job is null then e.trace_id end as place from pgflow.job_events e where e.kind <> 'swept') t
   where not exists (select from pgflow.jobs j where j.id = t.job)
     and not exists (select from pgflow.job_archive a where a.id = t.job)
  union all
  select 'job_settings', null, 'there are no settings of jobs'
   where not exists (select from pgflow.job_settings)
  union all
  select 'job_trace_entry', null, format('entry %s of job %s cannot be', t.trace_id, t.job)
    from (select t.trace_id, t.at, t.token, coalesce(t.kind, 'submitted') as kind, t.job, t.need, t.worker from pgflow.job_trace t) t
   where t.kind not in ('submitted', 'claimed', 'lapsed', 'extended', 'released', 'handed_over', 'cancel_asked',
                        'cleared', 'redriven', 'finished', 'failed', 'cancelled', 'expired', 'crashed', 'swept', 'unblocked', 'concern', 'ring')
      or t.at > clock_timestamp() + interval '1 day'
      or (t.kind = 'submitted') <> (t.job is null) or (t.kind = 'submitted') <> (t.at is null)
      or t.trace_id not between 1 and (select s.last_value from pgflow.jobs_seq s)
      or (t.kind in ('claimed', 'extended', 'lapsed', 'released')) > (t.token is not null)
      or (t.kind = 'claimed' and t.worker is null)
      or (t.need is null and t.kind <> 'swept');
end;
$$;
