-- Hands one job over without a lease, if it may be; see reschedule_unheld_jobs. Says where it stands if it may not, and what is
-- wrong with what it is to wait for.
create or replace function pgflow._reschedule_unheld(
  p_id text,
  p_need text,
  p_payload jsonb,
  p_wake_at timestamptz,
  p_max_attempts int,
  p_kinds text[],
  p_dependencies text[],
  p_policies text[],
  p_worker text
) returns table (outcome text, status text, problem jsonb)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ends text[] := pgflow._lock_dependencies(p_kinds, p_dependencies, array[p_id], null, p_may_end => true);
  v_free text[] := pgflow._unheld_jobs(array[p_id], p_worker);
  v_detail text;
begin
  if v_free <> '{}' then
    begin
      perform pgflow._refuse_unknown(p_dependencies, v_ends);
      perform pgflow._move_jobs(
        v_free, array[p_need], array[p_payload], null, array[p_wake_at], array[p_max_attempts],
        array_fill(p_id, array[cardinality(p_dependencies)]), p_kinds, p_dependencies, p_policies, v_ends, p_worker);
    exception when foreign_key_violation or invalid_parameter_value then
      -- That its lease had run out stays counted.
      get stacked diagnostics v_detail = pg_exception_detail;
      if v_detail not like '{"%' then
        raise;
      end if;
      perform pgflow._line_up(array_agg(j.key), array_agg(0)) from pgflow.jobs j where j.id = p_id and j.key is not null;
      return query select 'refused', null::text, v_detail::jsonb;
      return;
    end;
  end if;
  return query select o.outcome, o.status, null::jsonb from pgflow._unheld_outcomes(array[p_id], v_free) o;
end;
$$;
