-- Says per item of a batch what became of it: applied, for the positions given, or why not. What was settled with this token
-- before is already_settled; with another, fenced. Those in `cancelled` ended as that, whatever was said of them.
create or replace function pgflow._job_outcomes(
  p_ids text[],
  p_tokens text[],
  p_applied int[],
  p_cancelled int[] default null
) returns table (id text, outcome text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_applied) = cardinality(p_ids) and p_cancelled is null then
    return query select i, 'applied' from unnest(p_ids) i;
    return;
  end if;
  return query
    select i.id, case
        when i.n = any (p_cancelled) then 'cancelled'
        when i.n = any (p_applied) then 'applied'
        when j.id is null and a.id is null then 'unknown'
        when coalesce(j.settled, a.settled)::text = i.token then 'already_settled'
        else 'fenced' end
      from unnest(p_ids, p_tokens) with ordinality i(id, token, n)
      left join lateral (select j.id, j.settled from pgflow.jobs j where j.id = i.id offset 0) j on true
      left join lateral (select a.id, a.settled from pgflow.job_archive a where a.id = i.id offset 0) a on true
     order by i.n;
end;
$$;
