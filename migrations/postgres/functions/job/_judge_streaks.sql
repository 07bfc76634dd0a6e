-- Sets jobs aside whose leases ran out more often in a row than the new threshold says, also those that sleep, and puts those back in line
-- that it does not mean any more.
create or replace function pgflow._judge_streaks(p_threshold int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ids text[];
  v_judged record;
begin
  v_ids := array(
    select j.id from pgflow.jobs j
     where j.state in ('ready', 'parked', 'sleeping', 'concern') and (j.state = 'concern') <> (j.streak > p_threshold and pgflow._is_for_people(j.need, j.max_attempts))
     order by j.id for no key update);
  with judged as (
    update pgflow.jobs j
       set state = case
             when j.streak > p_threshold and pgflow._is_for_people(j.need, j.max_attempts) then 'concern'
             when j.wake_at > v_now then 'sleeping'
             when j.key is not null then 'parked'
             else 'ready' end,
           wake_at = greatest(j.wake_at, v_now)
     where j.id = any (v_ids)
    returning j.id, j.need, j.key, j.state
  )
  select array_agg(u.id) filter (where u.state = 'concern') as aside, array_agg(u.need) filter (where u.state = 'concern') as aside_needs,
         array_agg(u.id) filter (where u.state = 'ready') as ready, array_agg(u.need) filter (where u.state = 'ready') as ready_needs,
         array_agg(u.key) filter (where u.key is not null) as keys
    into v_judged from judged u;
  perform pgflow._trace_jobs('concern', v_judged.aside, v_judged.aside_needs, null, null);
  perform pgflow._announce_jobs(v_judged.ready, v_judged.ready_needs);
  perform pgflow._line_up(v_judged.keys, array_fill(0, array[coalesce(cardinality(v_judged.keys), 0)]));
end;
$$;
