-- Up to `max_messages` of a queue for each of these batch keys, as look_at_queue returns them: those after this priority and place. With
-- `locks` those are left out that somebody else has, and the others locked. Their copies say where jobs are, and the jobs whether they can
-- be had; many that cannot, such as dead ones, are not read through.
create or replace function pgflow.batch_messages(
  need text, keys text[], max_messages int, after_priority int, after_place bigint, locks boolean
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
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_ids text[];
begin
  select array_agg(f.id) into v_ids
    from unnest(batch_messages.keys) k(key)
    cross join lateral (
      select m.id
        from (
          select c.job as id from pgflow.job_messages c
           where c.need = batch_messages.need and c.batch_key = k.key
             and (after_priority is null or (c.priority <= after_priority and (c.priority < after_priority or c.seq > after_place)))
           order by c.priority desc, c.seq limit max_messages + 200
        ) m
        cross join lateral (
          select from pgflow.jobs j
           where j.id = m.id and j.need = batch_messages.need and j.state = 'ready' and (j.expires_at is null or j.expires_at > v_now)
          offset 0
        ) j
       limit max_messages
    ) f;
  if batch_messages.locks then
    v_ids := array(
      select j.id from pgflow.jobs j where j.id = any (v_ids) and j.state = 'ready' order by j.id for no key update skip locked);
  end if;
  return query
    select * from pgflow._waiting_messages(batch_messages.need, max_messages, null, null, coalesce(v_ids, '{}'));
end;
$$;
