-- What somebody changes by hand in the view pgwf.jobs, as its owner: moments, the streak, whether it is to be cancelled; or the job is deleted,
-- and who waits for it goes on as if it had been cancelled. All else is refused.
create or replace function pgwf._change_jobs() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job pgflow.jobs;
  v_fixed constant text[] := array[
    'job_id', 'next_need', 'wait_for', 'payload', 'singleton_key', 'lease_id', 'lease_expiration_count', 'created_at'];
  v_column text;
begin
  if tg_op = 'INSERT' then
    perform pgwf._refuse_by_hand('pgwf.jobs takes no rows', 'Use pgwf.submit_job.');
  end if;
  perform pgflow._lock_jobs(array[old.job_id]);
  select j.* into v_job from pgflow.jobs j where j.id = old.job_id;
  if v_job.id is null then
    return null;
  end if;
  if tg_op = 'DELETE' then
    perform pgwf._delete_job(v_job);
    return old;
  end if;
  foreach v_column in array v_fixed loop
    if to_jsonb(new) -> v_column is distinct from to_jsonb(old) -> v_column then
      perform pgwf._refuse_by_hand(
        format('column %s of pgwf.jobs cannot be changed by hand', v_column),
        'Use pgwf.reschedule_unheld_job for a job that nobody has, and the lease''s functions for one that somebody has.');
    end if;
  end loop;
  if new.lease_expires_at is distinct from old.lease_expires_at and v_job.state <> 'leased' then
    perform pgwf._refuse_by_hand(format('job %s is not leased', old.job_id), 'Use pgwf.get_work.');
  end if;
  perform pgwf._change_job(v_job, old, new);
  return new;
end;
$$;
