-- Counts what others noted about keys whose rows the caller has locked.
create or replace function pgflow._count_notes(p_keys text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with noted as (
    delete from pgflow.job_key_notes n where n.key = any (p_keys) returning n.key, n.jobs
  )
  update pgflow.job_keys k set jobs = k.jobs + n.jobs
    from (select n.key, sum(n.jobs)::int as jobs from noted n group by 1) n
   where k.key = n.key;
end;
$$;
