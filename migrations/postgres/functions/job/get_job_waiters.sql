-- Who waits for these jobs, up to `max_waiters` of each, by name.
create or replace function pgflow.get_job_waiters(ids text[], max_waiters int default 100) returns table (id text, waiter text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    select i.id, w.waiter
      from unnest(get_job_waiters.ids) i(id)
      cross join lateral (
        select distinct e.waiter from pgflow.job_edges e where e.dependency = i.id and e.kind = 'job'
         order by 1 limit get_job_waiters.max_waiters
      ) w
     order by 1, 2;
end;
$$;
