-- Deletes a job that the caller has locked, with all that is kept of it. Who waits for it goes on, as if it had been cancelled.
create or replace function pgwf._delete_job(p_job pgflow.jobs) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from pgflow.job_edges e where e.waiter = p_job.id;
  delete from pgflow.jobs j where j.id = p_job.id;
  perform pgflow._forget_jobs(array[p_job.id], array[p_job.seq]);
  perform pgflow._end_jobs(
    array[p_job.id], array['cancelled'], null, null, session_user::text,
    p_keys => array_remove(array[p_job.key], null), p_deltas => case when p_job.key is null then '{}' else '{-1}'::int[] end, p_over => true);
end;
$$;
