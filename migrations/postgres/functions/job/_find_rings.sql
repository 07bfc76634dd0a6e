-- Jobs that wait for themselves, found from some of those that wait: all of them where there are few, otherwise others each time. No
-- more than a thousand steps, so that a sweep can afford it; check() looks at all.
create or replace function pgflow._find_rings() returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pages double precision := greatest(pg_relation_size('pgflow.job_edges') / current_setting('block_size')::int, 1);
begin
  return array(
    with recursive walk(start, id) as (
      select * from (
        select distinct e.waiter, e.dependency
          from pgflow.job_edges e tablesample system (least(100, 400 / v_pages)) where e.kind = 'job' limit 200) e
      union
      select w.start, e.dependency
        from walk w
        cross join lateral (select e.dependency from pgflow.job_edges e where e.waiter = w.id and e.kind = 'job' offset 0) e
       where w.id <> w.start
    )
    select distinct r.start from (select w.start, w.id from walk w limit 1000) r where r.id = r.start order by 1);
end;
$$;
