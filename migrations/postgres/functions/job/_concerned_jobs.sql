-- Jobs that may end, and all that their end may concern: who waits for them, and who waits for those waiters that end
-- with them. With kind 'run' the ids are of runs.
create or replace function pgflow._concerned_jobs(p_ids text[], p_kind text default 'job') returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    with recursive concerned(id, ends, kind) as (
      select i collate "C", true, p_kind collate "C" from unnest(p_ids) i
      union
      select e.waiter, e.policy <> 'release', 'job'
        from concerned c
        cross join lateral (
          select e.waiter, e.policy from pgflow.job_edges e where e.dependency = c.id and e.kind = c.kind offset 0) e
       where c.ends
    )
    select c.id from concerned c where c.kind = 'job');
end;
$$;
