-- Locks up to `qty` visible messages of a queue, of each limited step no more than its quota. As in
-- _read_and_start, tasks of wide maps get what others leave, and a quarter in any case.
--
-- Looks at the oldest qty + 256 messages of each lane. If those do not suffice it looks at as many again,
-- from a random moment after them: behind any number of messages of full steps, others are found in time.
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
  v_bulk timestamptz := v_now - pgflow._bulk_edge();
  v_share int := floor(greatest(_pick_messages.qty, 0) / 4.0 + random());
  v_look int := least(greatest(_pick_messages.qty, 0), 1000000) + 256;
  v_pass record;
  v_wanted int;
  v_from timestamptz;
  v_found record;
  v_ids bigint[] := '{}';
  v_steps text[] := '{}';
  -- Per lane, the moment of the last message looked at; null when there is nothing more.
  v_seen timestamptz[] := array[v_bulk, '-infinity']::timestamptz[];
begin
  for v_pass in
    select * from (values (1, v_now, v_share, false), (2, v_bulk, 0, false), (1, v_now, 0, false),
                          (1, v_now, 0, true), (2, v_bulk, 0, true)) p(lane, until, spared, later)
  loop
    exit when cardinality(v_ids) >= _pick_messages.qty;
    continue when v_seen[v_pass.lane] is null;
    v_from := case when v_pass.later
      then pgflow._random_moment(_pick_messages.queue_name, v_seen[v_pass.lane], v_pass.until)
      when v_pass.lane = 1 then v_bulk else '-infinity' end;
    v_wanted := _pick_messages.qty - v_pass.spared - cardinality(v_ids);
    select * into v_found from pgflow._pick_among(
      _pick_messages.queue_name, v_wanted, v_from, v_pass.until, v_look,
      limited_steps, pgflow._quotas_left(limited_steps, limited_quotas, v_steps), v_ids);
    v_ids := v_ids || v_found.ids;
    v_steps := v_steps || v_found.steps;
    v_seen[v_pass.lane] := case when v_found.seen >= v_look or coalesce(cardinality(v_found.ids), 0) >= v_wanted
      then v_found.until end;
  end loop;
  return v_ids;
end;
$$;
