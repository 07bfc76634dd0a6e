-- What a claim of a queue has to know, in one look: permits, who holds of them, up to `max_messages` that are ready, by priority, then
-- place, and when the next change comes. A row each, of which `what` says what it is about. With `locks` permits are locked,
-- then messages, of which those are left out that somebody else has; without, leases that have run out are counted and sleepers
-- woken first. Payloads are measured: what a claim hands out is bounded in bytes.
create or replace function pgflow.look_at_queue(
  worker text,
  need text,
  kinds text[],
  names text[],
  max_messages int,
  locks boolean default false
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
begin
  perform pgflow._check_claim(look_at_queue.worker, array[look_at_queue.need], 1, max_messages);
  if not locks then
    perform pgflow._tidy_line(v_now, array[look_at_queue.need], 1000, look_at_queue.worker);
  end if;
  if cardinality(kinds) > 0 then
    return query
      select 'permit', p.kind, p.name, p.state, null::bigint, null::text, null::text, null::int, null::bigint,
             null::int, null::bigint, null::bigint, null::bigint
        from pgflow.load_permits(kinds, names, locks) p;
    return query
      select 'hold', null, h.resource, null::jsonb, h.place, h.token, h.batch, h.units, h.fence,
             null::int, null::bigint, null::bigint, null::bigint
        from pgflow.load_holds(array(select k.name from unnest(kinds, names) k(kind, name) where k.kind = 'resource')) h;
  end if;
  -- Of what is paused nothing can be had.
  if exists (select from pgflow.paused_needs p where p.need = look_at_queue.need) then
    max_messages := 0;
  end if;
  if locks then
    return query
      select * from pgflow._waiting_messages(
        look_at_queue.need, max_messages, null, null,
        array(
          select j.id from pgflow.jobs j
           where j.state = 'ready' and j.need = look_at_queue.need and (j.expires_at is null or j.expires_at > v_now)
           order by j.priority desc, j.seq limit max_messages for no key update skip locked));
  else
    return query select * from pgflow._waiting_messages(look_at_queue.need, max_messages, null, null, null);
    return query
      select 'next', null, null, null::jsonb, (extract(epoch from v_now + n.seconds * interval '1 second') * 1000000)::bigint,
             null::text, null::text, null::int, null::bigint, null::int, null::bigint, null::bigint, null::bigint
        from pgflow.next_job(array[look_at_queue.need]) n(seconds) where n.seconds is not null;
  end if;
end;
$$;
