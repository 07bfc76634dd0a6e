-- Whether somebody who waits for this, which has ended so and did not tell all, waits for nothing else that has not, or ends with it. Also
-- true if nobody waits for it any more.
create or replace function pgflow._lets_go_on(p_kind text, p_dependency text, p_outcome text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_waiter record;
  v_waits boolean := false;
begin
  for v_waiter in
    select e.waiter, e.policy from pgflow.job_edges e where e.dependency = p_dependency and e.kind = p_kind
  loop
    v_waits := true;
    if v_waiter.policy <> 'release' and p_outcome <> 'done' then
      return true;
    end if;
    perform from pgflow.job_edges o
     where o.waiter = v_waiter.waiter
       and (select true from pgflow.job_wakes w where w.dependency = o.dependency and w.kind = o.kind) is null limit 1;
    if not found then
      return true;
    end if;
  end loop;
  return not v_waits;
end;
$$;
