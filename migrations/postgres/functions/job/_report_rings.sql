-- Says of jobs that wait for themselves that they do: to whoever sweeps, and once in their traces. Nothing else is done, since only
-- people know which of them should not wait.
create or replace function pgflow._report_rings(p_worker text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rings text[] := pgflow._find_rings();
begin
  if v_rings = '{}' then
    return;
  end if;
  raise warning 'Jobs wait for themselves: %', v_rings[1:10]
    using detail = jsonb_build_object('problem', 'ring', 'jobs', v_rings), hint = 'Cancel one of each ring.';
  -- For the caller, who reads it from its transaction.
  perform set_config('pgflow.job_rings', v_rings[1:100]::text, true);
  perform pgflow._trace_jobs('ring', array_agg(j.id), array_agg(j.need), null, p_worker)
     from pgflow.jobs j
    where j.id = any (v_rings) and not exists (select from pgflow.job_trace t where t.job = j.id and t.kind = 'ring');
end;
$$;
