-- Notes that jobs are to be cancelled: no further lease, beat or hand-over. Returns their ids. The caller has locked them,
-- and lines up the keys of those that nobody has leased. With `ending` it also ends those, so that only of the others it
-- has to be traced that this was asked for.
create or replace function pgflow._request_cancel(p_ids text[], p_worker text, p_reason text, p_ending boolean default false)
returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_asked record;
begin
  with asked as (
    update pgflow.jobs j
       set cancel_at = clock_timestamp(), cancel_by = p_worker, cancel_reason = left(p_reason, pgflow._max_error_length()),
           state = case when j.state = 'leased' then 'leased' else 'cancelled' end
     where j.id = any (p_ids) and j.cancel_at is null
    returning j.id, j.need, j.state, coalesce(j.lease_until > j.cancel_at, false) as active
  )
  select array_agg(a.id) as ids,
         array_agg(a.id) filter (where a.traced) as traced, array_agg(a.need) filter (where a.traced) as needs,
         array_agg(jsonb_build_object('reason', left(p_reason, 1000), 'was_active', a.active))
           filter (where a.traced) as details
    into v_asked
    from (select a.*, a.state = 'leased' or not p_ending as traced from asked a) a;
  perform pgflow._trace_jobs('cancel_asked', v_asked.traced, v_asked.needs, null, p_worker, v_asked.details);
  return coalesce(v_asked.ids, '{}');
end;
$$;
