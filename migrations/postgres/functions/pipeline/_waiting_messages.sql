-- Messages of a queue that are ready and not expired, by priority, then place, as look_at_queue returns them: those after this priority
-- and place, or those of `ids` if there are any. To measure a payload is to read it, so it ends with the message that makes 64 MB of
-- them.
create or replace function pgflow._waiting_messages(
  p_need text, p_limit int, p_after_priority int, p_after_place bigint, p_ids text[]
) returns table (
  what text, kind text, name text, state jsonb, place bigint, token text, batch text, units int, fence bigint,
  priority int, since bigint, bytes bigint, not_before bigint
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_found record;
  v_bytes bigint := 0;
begin
  what := 'message';
  for v_found in
    select j.id, j.seq, j.priority, j.payload, j.streak, (extract(epoch from coalesce(j.wake_at, j.created_at)) * 1000000)::bigint as since,
           m.batch_key, m.resources, (extract(epoch from m.not_before) * 1000000)::bigint as not_before
      from (
        (select f.* from pgflow.jobs f where f.id = any (p_ids))
        union all
        (select f.* from pgflow.jobs f
          where p_ids is null and f.state = 'ready' and f.need = p_need and (f.expires_at is null or f.expires_at > clock_timestamp())
            -- The range of the index, then what of its first priority is behind.
            and (p_after_priority is null or (f.priority <= p_after_priority and (f.priority < p_after_priority or f.seq > p_after_place)))
          order by f.priority desc, f.seq limit p_limit)
      ) j
      left join pgflow.job_messages m on m.job = j.id
     order by j.priority desc, j.seq
  loop
    name := v_found.id;
    place := v_found.seq;
    priority := v_found.priority;
    -- How many workers in a row were lost with it.
    units := v_found.streak;
    since := v_found.since;
    batch := v_found.batch_key;
    state := v_found.resources;
    not_before := v_found.not_before;
    bytes := octet_length(v_found.payload::text);
    return next;
    v_bytes := v_bytes + bytes;
    exit when v_bytes >= pgflow._claim_bytes();
  end loop;
end;
$$;
