-- Says which jobs have lost too many workers in a row, to whoever sweeps, whoever set them aside: the last hundred of them. Nothing is
-- done about them, since only people know whether they may go on.
create or replace function pgflow._report_concerns() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_jobs text[] := array(select j.id from pgflow.jobs j where j.state = 'concern' order by j.seq desc limit 100);
begin
  -- For the caller, who reads it from its transaction.
  perform set_config('pgflow.jobs_in_concern', v_jobs::text, true);
end;
$$;
