-- Locks up to `qty` visible messages of a queue, of each limited step no more than its quota.
--
-- Looks at the oldest qty + 256 messages. If those do not suffice it looks at as many again, from a
-- random moment after them: behind any number of messages of full steps, others are found in time.
create or replace function pgflow._pick_messages(
  queue_name text,
  qty int,
  limited_steps text[],
  limited_quotas int[]
) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_from timestamptz := '-infinity';
  v_look int := greatest(_pick_messages.qty, 0) + 256;
  v_found record;
  v_ids bigint[] := '{}';
  v_steps text[] := '{}';
begin
  for pass in 1 .. 2 loop
    select * into v_found from pgflow._pick_among(
      _pick_messages.queue_name, _pick_messages.qty - cardinality(v_ids), v_from, v_now, v_look,
      limited_steps, pgflow._quotas_left(limited_steps, limited_quotas, v_steps), v_ids);
    v_ids := v_ids || v_found.ids;
    v_steps := v_steps || v_found.steps;
    exit when cardinality(v_ids) >= _pick_messages.qty or v_found.seen < v_look;
    v_from := v_found.until + random() * (v_now - v_found.until);
  end loop;
  return v_ids;
end;
$$;
