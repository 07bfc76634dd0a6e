-- Refuses edges that close a ring: walks from what these jobs are to wait for to what that waits for, and so on. The walk
-- ends after 100,000 steps; a ring behind that, or one that two transactions close together, is what check() reports.
create or replace function pgflow._refuse_rings(p_waiters text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ring text;
begin
  with recursive walk(start, id) as (
    select e.waiter, e.dependency from pgflow.job_edges e where e.waiter = any (p_waiters) and e.kind = 'job'
    union
    select w.start, e.dependency
      from walk w
      cross join lateral (select e.dependency from pgflow.job_edges e where e.waiter = w.id and e.kind = 'job' offset 0) e
     where w.id <> w.start
  )
  select r.start into v_ring from (select w.start, w.id from walk w limit 100000) r where r.id = r.start limit 1;
  if found then
    raise exception 'Job % would wait for itself', v_ring
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object(
        'problem', 'ring', 'job', v_ring, 'dependency', pgflow._closes_ring(v_ring));
  end if;
end;
$$;
