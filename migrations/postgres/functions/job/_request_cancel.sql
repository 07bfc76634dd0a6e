-- Notes that jobs are to be cancelled: no further lease, beat or hand-over. Returns their ids. The caller has locked them,
-- and lines up the keys of those that nobody has leased.
create or replace function pgflow._request_cancel(p_ids text[], p_worker text, p_reason text, p_detail jsonb default null)
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
    returning j.id, j.need, coalesce(j.lease_until > j.cancel_at, false) as active, j.token
  )
  select array_agg(a.id) as ids, array_agg(a.need) as needs, array_agg(a.token) as tokens,
         array_agg(coalesce(p_detail, '{}') || jsonb_build_object('reason', left(p_reason, 1000), 'was_active', a.active)) as details
    into v_asked from asked a;
  perform pgflow._trace_jobs('cancel_asked', v_asked.ids, v_asked.needs, v_asked.tokens, p_worker, v_asked.details);
  return coalesce(v_asked.ids, '{}');
end;
$$;
