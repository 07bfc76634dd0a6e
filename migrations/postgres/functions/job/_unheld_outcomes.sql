-- Says per item of an operator's batch what became of it.
create or replace function pgflow._unheld_outcomes(p_ids text[], p_applied text[]) returns table (id text, outcome text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select i.id, case
        when i.id = any (p_applied) then 'applied'
        when exists (select from pgflow.jobs j where j.id = i.id) then 'refused'
        when exists (select from pgflow.job_archive a where a.id = i.id) then 'already_settled'
        else 'unknown' end
      from unnest(p_ids) with ordinality i(id, n) order by i.n;
end;
$$;
