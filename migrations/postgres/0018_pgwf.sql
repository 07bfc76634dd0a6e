-- The schema pgwf: the interface that clients of the published pgwf know, on pgflow's jobs. Only views are
-- here; its functions are in functions/pgwf. See docs/pgwf.md.

do $$
begin
  -- Somebody's own pgwf is not ours to replace. Whose schema it is, the installer has looked at.
  if exists (select from pg_class c where c.relnamespace = to_regnamespace('pgwf'))
     or exists (select from pg_proc p where p.pronamespace = to_regnamespace('pgwf')) then
    raise exception 'this database has a schema pgwf with contents that pgflow did not make'
      using hint = 'Rename or drop that schema, or use another database.';
  end if;
  if exists (select from pg_namespace n where n.nspname = 'pgwf' and not pg_has_role(n.nspowner, current_user, 'usage')) then
    raise exception 'schema pgwf belongs to another role'
      using hint = format('alter schema pgwf owner to %I', current_user);
  end if;
end;
$$;
create schema if not exists pgwf;
revoke all on schema pgwf from public;

create view pgwf.jobs as
select
  j.id as job_id,
  j.need as next_need,
  case when j.waits > 0
    then array(select e.dependency from pgflow.job_edges e where e.waiter = j.id order by e.place)
    else '{}'::text[] end as wait_for,
  j.payload,
  j.key as singleton_key,
  coalesce(j.wake_at, j.created_at) as available_at,
  coalesce(j.expires_at, 'infinity') as expires_at,
  j.token::text as lease_id,
  coalesce(j.lease_until, '-infinity') as lease_expires_at,
  j.lapses::bigint as lease_expiration_count,
  j.streak::bigint as consecutive_expirations,
  j.created_at,
  j.cancel_at is not null as cancel_requested,
  j.cancel_by as cancel_requested_by,
  j.cancel_at as cancel_requested_at
from pgflow.jobs j;

create view pgwf.jobs_archive as
select
  a.archived_at,
  a.id as job_id,
  a.need as next_need,
  coalesce(a.waited_for, '{}') as wait_for,
  a.payload,
  a.key as singleton_key,
  a.created_at,
  coalesce(a.expires_at, 'infinity') as expires_at,
  a.token::text as lease_id,
  a.lapses::bigint as lease_expiration_count,
  a.streak::bigint as consecutive_expirations,
  a.cancel_at is not null as cancel_requested,
  a.cancel_by as cancel_requested_by,
  a.cancel_at as cancel_requested_at
from pgflow.job_archive a;

-- A lease that ran out counts as none, whether somebody has noticed or not; the threshold counts leases that ran out
-- before it.
create view pgwf.jobs_with_status as
select
  w.*,
  case
    when w.lease_expires_at > clock_timestamp() then 'ACTIVE'
    when w.cancel_requested then 'CANCELLED'
    when w.available_at > clock_timestamp() then 'AWAITING_FUTURE'
    when w.wait_for <> '{}' then 'PENDING_JOBS'
    when w.consecutive_expirations >= (
      select s.crash_threshold + (w.lease_id is null)::int from pgflow.job_settings s) then 'CRASH_CONCERN'
    when w.expires_at <= clock_timestamp() then 'EXPIRED'
    else 'READY'
  end as status
from pgwf.jobs w;

create view pgwf.jobs_friendly_status as
select
  w.job_id,
  w.status,
  w.created_at as creation_dt,
  case when w.status = 'PENDING_JOBS' then w.wait_for end as pending_jobs,
  case when w.status = 'AWAITING_FUTURE' then w.available_at end as sleep_until,
  case when w.status = 'ACTIVE' then w.lease_id end as worker_id,
  case when w.status = 'CANCELLED' then w.cancel_requested_at end as cancelled_at,
  case when w.status = 'CANCELLED' then w.cancel_requested_by end as cancelled_by,
  w.expires_at,
  w.payload
from pgwf.jobs_with_status w;

-- What happened, in pgwf's words. What a trace's columns and detail do not say is said by the job.
create view pgwf.jobs_trace as
select
  t.trace_id,
  t.job as job_id,
  case t.kind
    when 'submitted' then 'job_submitted'
    when 'claimed' then 'job_retrieved'
    when 'lapsed' then 'lease_expiration_counter_incremented'
    when 'extended' then 'lease_extended'
    when 'handed_over' then 'reschedule_job'
    when 'finished' then 'job_finished'
    when 'cancel_asked' then 'job_cancel_requested'
    when 'cancelled' then 'job_cancel_archived'
    when 'swept' then 'job_cancel_archived_run'
    when 'cleared' then 'crash_concern_cleared'
    else 'job_' || t.kind
  end as event_type,
  coalesce(t.worker, '') as worker_id,
  t.at as event_at,
  case t.kind
    when 'submitted' then jsonb_build_object(
      'job_id', t.job, 'worker_id', t.worker, 'next_need', t.need, 'wait_for', coalesce(t.detail -> 'wait_for', '[]'),
      'singleton_key', t.detail -> 'singleton_key', 'available_at', coalesce(t.detail -> 'available_at', to_jsonb(t.at)),
      'expires_at', coalesce(t.detail -> 'expires_at', '"infinity"'))
    when 'claimed' then jsonb_build_object(
      'worker_id', t.worker, 'worker_caps', t.detail -> 'caps', 'lease_seconds', t.detail -> 'seconds',
      'limit_jobs', t.detail -> 'limit')
    when 'lapsed' then jsonb_build_object(
      'worker_id', t.worker, 'worker_caps', t.detail -> 'caps', 'previous_lease_id', t.token,
      'previous_lease_expires_at', t.detail -> 'until', 'lease_expiration_count', t.detail -> 'lapses',
      'consecutive_expirations', t.detail -> 'streak')
    when 'extended' then jsonb_build_object(
      'job_id', t.job, 'lease_id', t.token, 'additional_seconds', t.detail -> 'seconds')
    when 'handed_over' then jsonb_build_object(
      'job_id', t.job, 'worker_id', t.worker, 'previous_next_need', t.detail -> 'from',
      'previous_wait_for', coalesce(t.detail -> 'previous_wait_for', '[]'),
      'previous_available_at', t.detail -> 'previous_available_at', 'previous_expires_at', coalesce(t.detail -> 'expires_at', '"infinity"'),
      'next_need', t.need, 'wait_for', coalesce(t.detail -> 'wait_for', '[]'),
      'available_at', coalesce(t.detail -> 'available_at', to_jsonb(t.at)), 'expires_at', coalesce(t.detail -> 'expires_at', '"infinity"'))
      || case when t.token is null then '{"rescheduled_without_lease": true}' else jsonb_build_object('lease_id', t.token) end
    when 'finished' then jsonb_build_object('job_id', t.job, 'worker_id', t.worker)
      || case when t.token is null then '{"completed_without_lease": true}' else jsonb_build_object('lease_id', t.token) end
    when 'cancel_asked' then jsonb_build_object('job_id', t.job, 'worker_id', t.worker) || t.detail
    when 'cancelled' then jsonb_build_object('job_id', t.job, 'worker_id', t.worker, 'cancel_requested_at', a.cancel_requested_at)
    when 'swept' then jsonb_build_object('worker_id', t.worker) || t.detail
    when 'cleared' then jsonb_build_object(
      'job_id', t.job, 'worker_id', t.worker, 'previous_consecutive_expirations', t.detail -> 'streak', 'reason', t.detail -> 'reason')
    else jsonb_build_object('job_id', t.job, 'worker_id', t.worker) || coalesce(t.detail, '{}')
  end as input_data,
  case t.kind
    when 'submitted' then jsonb_build_object(
      'job_id', t.job, 'next_need', t.need, 'wait_for', coalesce(t.detail -> 'wait_for', '[]'),
      'available_at', coalesce(t.detail -> 'available_at', to_jsonb(t.at)), 'expires_at', coalesce(t.detail -> 'expires_at', '"infinity"'))
    when 'claimed' then jsonb_build_object('lease_id', t.token, 'lease_expires_at', t.detail -> 'until')
    when 'extended' then jsonb_build_object(
      'previous_expires_at', t.detail -> 'previous', 'new_expires_at', t.detail -> 'until')
    when 'handed_over' then jsonb_build_object(
      'job_id', t.job, 'next_need', t.need, 'wait_for', coalesce(t.detail -> 'wait_for', '[]'),
      'available_at', coalesce(t.detail -> 'available_at', to_jsonb(t.at)), 'expires_at', coalesce(t.detail -> 'expires_at', '"infinity"'))
    when 'finished' then jsonb_build_object('archived_row', to_jsonb(a) - 'payload')
    when 'cancelled' then jsonb_build_object('archived_row', to_jsonb(a) - 'payload')
    when 'cleared' then '{"consecutive_expirations": 0}'
  end as output_data
from pgflow.job_events t
left join pgwf.jobs_archive a on t.kind in ('finished', 'cancelled') and a.job_id = t.job
-- These say what pgwf's clients do not know.
where t.kind not in ('unblocked', 'concern', 'ring');
