-- What is left of quotas after messages of these steps were taken.
create or replace function pgflow._quotas_left(limited_steps text[], limited_quotas int[], taken_steps text[])
returns int[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select l.quota - (select count(*)::int from unnest(taken_steps) t(step) where t.step = l.step)
      from unnest(limited_steps, limited_quotas) with ordinality l(step, quota, n) order by l.n);
end;
$$;
