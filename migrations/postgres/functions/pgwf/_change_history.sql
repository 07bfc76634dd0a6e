-- What somebody deletes by hand from the views pgwf.jobs_archive and pgwf.jobs_trace, as their owner: an archived job with all that is kept of it, or
-- an entry of a trace. Nothing else can be done to them.
create or replace function pgwf._change_history() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_place bigint;
begin
  if tg_op <> 'DELETE' then
    perform pgwf._refuse_by_hand(
      format('pgwf.%s can only be read and deleted from', tg_table_name), 'What happened to jobs is written by the functions that change them.');
  end if;
  if tg_table_name = 'jobs_trace' then
    delete from pgflow.job_trace t where t.trace_id = old.trace_id;
  else
    delete from pgflow.job_archive a where a.id = old.job_id returning a.seq into v_place;
    perform pgflow._forget_jobs(array[old.job_id], array[v_place]);
  end if;
  return old;
end;
$$;
