-- Only what the published pgwf shows, and as little of it as the benchmark calls: no schema pgflow beside it.
create schema pgwf;

create table pgwf.jobs (
  job_id text primary key,
  next_need text not null,
  wait_for text[] not null default '{}',
  payload jsonb not null default '{}',
  lease_id text,
  lease_expires_at timestamptz not null default '-infinity',
  created_at timestamptz not null default clock_timestamp()
);
create table pgwf.jobs_archive (job_id text primary key);
create table pgwf.jobs_trace (job_id text not null, event_type text not null);

create function pgwf.submit_job(
  p_job_id text, p_worker_id text, p_next_need text, p_wait_for text[] default '{}', p_payload jsonb default '{}'
) returns table (job_id text) language sql as $$
  insert into pgwf.jobs_trace values (p_job_id, 'job_submitted');
  insert into pgwf.jobs (job_id, next_need, wait_for, payload)
  values (p_job_id, p_next_need, array(select w from unnest(p_wait_for) w except select a.job_id from pgwf.jobs_archive a), p_payload)
  returning jobs.job_id;
$$;

create function pgwf.get_work(p_worker_id text, p_worker_caps text[], p_lease_seconds integer default 60, p_limit_jobs integer default 1)
returns table (job_id text, lease_id text) language sql as $$
  update pgwf.jobs j set lease_id = gen_random_uuid()::text, lease_expires_at = clock_timestamp() + make_interval(secs => p_lease_seconds)
   where j.job_id in (
     select f.job_id from pgwf.jobs f
      where f.next_need = any (p_worker_caps) and f.wait_for = '{}' and f.lease_expires_at < clock_timestamp()
      order by f.created_at limit p_limit_jobs for update skip locked)
  returning j.job_id, j.lease_id;
$$;

create function pgwf.complete_job(p_job_id text, p_lease_id text, p_worker_id text) returns boolean language sql as $$
  update pgwf.jobs set wait_for = array_remove(wait_for, p_job_id) where wait_for @> array[p_job_id];
  insert into pgwf.jobs_archive values (p_job_id);
  insert into pgwf.jobs_trace values (p_job_id, 'job_finished');
  delete from pgwf.jobs where job_id = p_job_id and lease_id = p_lease_id;
  select true;
$$;
