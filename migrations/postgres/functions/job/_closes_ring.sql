-- The first dependency of a job over which it would wait for itself.
create or replace function pgflow._closes_ring(p_job text) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    with recursive walk(place, id) as (
      select e.place, e.dependency from pgflow.job_edges e where e.waiter = p_job and e.kind = 'job'
      union
      select w.place, e.dependency
        from walk w join pgflow.job_edges e on e.waiter = w.id and e.kind = 'job'
       where w.id <> p_job
    )
    select e.dependency from walk w join pgflow.job_edges e on e.waiter = p_job and e.place = w.place
     where w.id = p_job order by w.place limit 1);
end;
$$;
