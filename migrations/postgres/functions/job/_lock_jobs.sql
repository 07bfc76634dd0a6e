-- Locks jobs that may end, and all that their end may concern: who waits for them, and who waits for those waiters
-- that end with them. In one pass by id, so that transactions which do this cannot wait for each other in a ring.
-- Waiters that come in between are found, and locked, when the edges are read again.
create or replace function pgflow._lock_jobs(p_ids text[], p_kind text default 'job') returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from pgflow.jobs j
    where j.id = any (array(
      with recursive concerned(id, ends, kind) as (
        select i collate "C", true, p_kind collate "C" from unnest(p_ids) i
        union
        select e.waiter, e.policy <> 'release', 'job'
          from concerned c
          join pgflow.job_edges e on e.dependency = c.id and e.kind = c.kind
         where c.ends
      )
      select c.id from concerned c where c.kind = 'job'
    ))
    order by j.id
      for update;
end;
$$;
