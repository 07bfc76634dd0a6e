-- Adds the edges of jobs whose dependencies the caller has locked, and returns for each of these jobs how many there are.
-- What is over already is not waited for, unless its edge says that the job ends with it: then the edge is there for
-- _pass_on_ends to find.
create or replace function pgflow._add_edges(
  p_waiters text[],
  p_kinds text[],
  p_dependencies text[],
  p_policies text[],
  p_ends text[]
) returns table (waiter text, waits int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    with added as (
      insert into pgflow.job_edges (waiter, place, kind, dependency, policy)
      select e.waiter, row_number() over (partition by e.waiter order by e.n), coalesce(e.kind, 'job'), e.dependency,
             coalesce(e.policy, 'release')
        from unnest(p_waiters, p_kinds, p_dependencies, p_policies, p_ends)
          with ordinality e(waiter, kind, dependency, policy, ends, n)
       where e.waiter is not null
         and (e.ends is null or (e.ends <> 'done' and coalesce(e.policy, 'release') <> 'release'))
      returning waiter
    )
    select a.waiter, count(*)::int from added a group by 1;
end;
$$;
