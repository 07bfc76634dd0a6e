-- Forgets up to `max_turns` keys of a fair queue that the queue has caught up with: their next messages join the next round either way.
-- Waits for nobody who pushes. Returns how many.
create or replace function pgflow.prune_turns(queue text, max_turns int default 1000) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_round jsonb := (select p.state from pgflow.permits p where p.kind = 'round' and p.name = queue);
  -- As the machine names them.
  v_first text := octet_length(queue) || ':' || queue || ':';
  v_last text := octet_length(queue) || ':' || queue || ';';
  v_pruned bigint;
begin
  delete from pgflow.permits p
   where p.ctid = any (array(
     select t.ctid from pgflow.permits t
      where t.kind = 'turn' and t.name >= v_first collate "C" and t.name < v_last collate "C" and t.state <= v_round
      limit max_turns for update skip locked));
  get diagnostics v_pruned = row_count;
  return v_pruned;
end;
$$;
