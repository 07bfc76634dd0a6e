-- Hands over jobs that the caller has locked, with what they wait for: new need, payload (null keeps it), key (null keeps it), moment and
-- budget. Clears the lease and the streak; keeps place in line and expiry.
create or replace function pgflow._move_jobs(
  p_ids text[],
  p_needs text[],
  p_payloads jsonb[],
  p_keys text[],
  p_wake_ats timestamptz[],
  p_max_attempts int[],
  p_waiters text[],
  p_kinds text[],
  p_dependencies text[],
  p_policies text[],
  p_ends text[],
  p_worker text,
  p_details jsonb[] default null
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_moved record;
begin
  delete from pgflow.job_edges e where e.waiter = any (p_ids);
  with edge as materialized (
    select * from pgflow._add_edges(p_waiters, p_kinds, p_dependencies, p_policies, p_ends)
  ), moved as (
    update pgflow.jobs j
       set need = i.need, payload = coalesce(i.payload, j.payload), key = coalesce(i.key, j.key), wake_at = coalesce(i.wake_at, v_now),
           max_attempts = i.max_attempts, waits = coalesce(i.waits, 0), forgiven = j.attempts, streak = 0,
           settled = coalesce(j.token, j.settled), token = null, lease_until = null, look_at = null,
           state = case when i.waits > 0 then 'waiting' when i.wake_at > v_now then 'sleeping'
             when coalesce(i.key, j.key) is not null then 'parked' else 'ready' end
      from (
        select i.*, e.waits, o.key as old_key, o.token as old_token, o.need as old_need
          from unnest(p_ids, p_needs, p_payloads, p_keys, p_wake_ats, p_max_attempts, p_details)
            i(id, need, payload, key, wake_at, max_attempts, detail)
          join pgflow.jobs o on o.id = i.id
          left join edge e on e.waiter = i.id
      ) i
     where j.id = i.id
    returning j.id, j.need, j.state, i.old_token, i.old_key, j.key,
              coalesce(i.detail, jsonb_build_object('from', i.old_need)) as detail
  )
  select array_agg(m.id) as ids, array_agg(m.need) as needs, array_agg(m.old_token) as tokens, array_agg(m.detail) as details,
         array_agg(m.id) filter (where m.state = 'ready') as ready, array_agg(m.need) filter (where m.state = 'ready') as ready_needs,
         array_agg(m.key) filter (where m.key is not null) as keys,
         array_agg((m.old_key is distinct from m.key)::int) filter (where m.key is not null) as joins,
         array_agg(m.old_key) filter (where m.old_key <> m.key) as left_keys
    into v_moved from moved m;
  perform pgflow._refuse_rings(p_waiters);
  perform pgflow._trace_jobs('handed_over', v_moved.ids, v_moved.needs, v_moved.tokens, p_worker, v_moved.details);
  perform pgflow._announce_jobs(v_moved.ready, v_moved.ready_needs);
  perform pgflow._pass_on_ends(
    p_waiters, p_dependencies, p_policies, p_ends, p_worker, v_moved.keys || v_moved.left_keys,
    v_moved.joins || array_fill(-1, array[coalesce(cardinality(v_moved.left_keys), 0)]));
end;
$$;
