-- Live jobs: their counters, what belongs to their state, moments that cannot be. A job has no run.
create or replace function pgflow._check_jobs() returns table (invariant text, run_id uuid, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  -- Planned once per session: this is called often where there are no jobs.
  return query
  select 'job_waits', null::uuid, format('job %s waits for %s, but has %s edges', j.id, j.waits, e.edges)
    from pgflow.jobs j
    cross join lateral (select count(*) as edges from pgflow.job_edges e where e.waiter = j.id) e
   where j.waits <> e.edges
  union all
  select 'job_twice', null, format('job %s is live and archived', j.id)
    from pgflow.jobs j join pgflow.job_archive a on a.id = j.id
  union all
  select 'job_place', null, format('place %s is of %s jobs, or was never given', j.seq, count(*))
    from (select j.seq from pgflow.jobs j union all select a.seq from pgflow.job_archive a) j
   group by j.seq
  having count(*) > 1 or j.seq < 1 or j.seq > (select s.last_value from pgflow.jobs_seq s)
  union all
  select 'job_state', null, format('job %s is %s, which its other columns contradict', j.id, j.state)
    from pgflow.jobs j cross join pgflow.job_settings s
   where (j.state in ('ready', 'parked') and j.wake_at > clock_timestamp())
      or (j.state in ('ready', 'parked', 'sleeping', 'waiting') and j.streak > s.crash_threshold and pgflow._is_for_people(j.need, j.max_attempts))
      or (j.state = 'concern' and j.streak <= s.crash_threshold)
      or (j.state = 'crashed' and (j.max_attempts is null or j.attempts - j.forgiven < j.max_attempts or j.streak = 0))
      or (j.state = 'expired' and coalesce(j.expires_at > clock_timestamp(), true))
      or (j.state in ('ready', 'sleeping', 'waiting', 'parked') and j.attempts - j.forgiven >= j.max_attempts)
      or (j.state = 'leased' and (j.worker is null or j.attempts < 1))
      or (j.state = 'waiting' and j.attempts > j.forgiven)
  union all
  select 'job_counters', null, format('job %s: %s attempts, %s failures, a streak of %s', j.id, j.attempts, j.failures, j.streak)
    from pgflow.jobs j
   where j.failures > j.attempts
      or (j.failures > 0) > (j.last_error is not null)
      or j.failures + j.lapses > j.attempts
      or (j.attempts > 0 and j.worker is null)
  union all
  select 'job_times', null, format('job %s has moments that cannot be', j.id)
    from pgflow.jobs j
   where j.created_at > clock_timestamp() + interval '1 day'
      or j.cancel_at < j.created_at or j.cancel_at > clock_timestamp() + interval '1 day'
      or j.lease_until < j.created_at or j.look_at < j.created_at
      or j.look_at > j.lease_until
      or j.expires_at = 'infinity'
  union all
  select 'job_trace', null, format('job %s was not %s as its trace says', j.id, t.kind)
    from pgflow.jobs j
    join (
      select distinct on (t.job) t.job, t.kind, t.need, t.token, t.at, t.detail from pgflow.job_events t order by t.job, t.trace_id desc
    ) t on t.job = j.id and t.at >= j.created_at
     -- Older entries may not be the last thing that happened.
     and (select s.trace and coalesce(t.at >= s.traced_since, true) from pgflow.job_settings s)
   where (t.kind = 'claimed' and (j.state <> 'leased' or t.token <> j.token))
      or t.kind in ('finished', 'cancelled', 'expired', 'crashed') or (t.kind = 'failed' and t.detail -> 'retry' is null)
      or t.need <> j.need;
end;
$$;
