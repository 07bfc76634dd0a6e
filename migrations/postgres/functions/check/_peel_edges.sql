-- Which of the nodes 1 to `nodes` are left when those that wait for nothing are taken away, again and again.
create or replace function pgflow._peel_edges(p_waiters int[], p_dependencies int[], p_nodes int) returns int[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  -- By what they wait for; where in that the waiters of each node begin; how many each node waits for.
  v_waiters int[] := array(select e.waiter from unnest(p_waiters, p_dependencies) e(waiter, dependency) order by e.dependency);
  v_first int[] := array(
    select 1 + coalesce(sum(e.edges) over (order by n rows between unbounded preceding and 1 preceding), 0)::int
      from generate_series(1, p_nodes + 1) n left join (select d, count(*) as edges from unnest(p_dependencies) d group by 1) e on e.d = n
     order by n);
  v_open int[] := array(
    select coalesce(e.edges, 0)::int
      from generate_series(1, p_nodes) n left join (select w, count(*) as edges from unnest(p_waiters) w group by 1) e on e.w = n
     order by n);
  v_free int[] := array(select n::int from unnest(v_open) with ordinality o(edges, n) where o.edges = 0);
  v_next int := 1;
  v_waiter int;
begin
  while v_next <= cardinality(v_free) loop
    for v_edge in v_first[v_free[v_next]] .. v_first[v_free[v_next] + 1] - 1 loop
      v_waiter := v_waiters[v_edge];
      v_open[v_waiter] := v_open[v_waiter] - 1;
      if v_open[v_waiter] = 0 then
        v_free := v_free || v_waiter;
      end if;
    end loop;
    v_next := v_next + 1;
  end loop;
  return array(select n::int from unnest(v_open) with ordinality o(edges, n) where o.edges > 0);
end;
$$;
