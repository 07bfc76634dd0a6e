-- Says per item of an operator's batch what became of it, and where a job stands that was not to be touched.
create or replace function pgflow._unheld_outcomes(p_ids text[], p_applied text[])
returns table (id text, outcome text, status text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  return query
    select i.id, case
        when i.id = any (p_applied) then 'applied'
        when j.id is not null then 'refused'
        when exists (select from pgflow.job_archive a where a.id = i.id) then 'already_settled'
        else 'unknown' end,
        case when i.id <> all (p_applied) then pgflow._job_status(j, v_now) end
      from unnest(p_ids) with ordinality i(id, n)
      left join pgflow.jobs j on j.id = i.id
     order by i.n;
end;
$$;
