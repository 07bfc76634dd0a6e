-- Says per item of a batch what became of it: applied, for the positions given, or why not. What was settled with this token
-- before is already_settled; with another, fenced. A settle other than a finish of a job that was to be cancelled ended it
-- as that: `may_cancel`.
create or replace function pgflow._job_outcomes(
  p_ids text[],
  p_tokens text[],
  p_applied int[],
  p_may_cancel boolean default false
) returns table (id text, outcome text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_applied) = cardinality(p_ids) and not p_may_cancel then
    return query select i, 'applied' from unnest(p_ids) i;
    return;
  end if;
  return query
    select i.id, case
        when i.n = any (p_applied) then
          case when p_may_cancel and a.outcome = 'cancelled' and j.id is null then 'cancelled' else 'applied' end
        when j.id is null and a.id is null then 'unknown'
        when coalesce(j.settled, a.settled)::text = i.token then 'already_settled'
        else 'fenced' end
      from unnest(p_ids, p_tokens) with ordinality i(id, token, n)
      left join pgflow.jobs j on j.id = i.id
      left join pgflow.job_archive a on a.id = i.id
     order by i.n;
end;
$$;
