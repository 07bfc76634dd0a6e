-- The next messages of a queue after this priority and place, as look_at_queue returns them. Locks nothing.
create or replace function pgflow.more_messages(
  need text, max_messages int, after_priority int, after_place bigint
) returns table (
  what text, kind text, name text, state jsonb, place bigint, token text, batch text, units int, fence bigint,
  priority int, since bigint, bytes bigint, not_before bigint
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  return query select * from pgflow._waiting_messages(more_messages.need, max_messages, after_priority, after_place, null);
end;
$$;
