-- A rate's state when it goes by another one from now on (microseconds since 1970), with as many tokens as there are, or as it may have at
-- once: otherwise a lower one in between would give back what was taken. While it is paused it keeps what it went by before.
create or replace function pgflow._moved_rate(p_state jsonb, p_rate jsonb, p_now numeric) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before jsonb := coalesce(p_state -> 'before', p_state -> 'rate');
  v_spent numeric := (p_state ->> 'spent')::numeric;
  v_old numeric := ceil((v_before ->> 'period')::numeric / nullif((v_before ->> 'amount')::numeric, 0));
  v_interval numeric := ceil((p_rate ->> 'period')::numeric / nullif((p_rate ->> 'amount')::numeric, 0));
  v_depth numeric := v_interval * (p_rate ->> 'burst')::numeric;
  v_slack numeric := greatest(v_old * (v_before ->> 'burst')::numeric - (greatest(v_spent, p_now) - p_now), 0);
begin
  if v_interval is not null then
    v_spent := case
      when v_old is null then least(v_spent, p_now + v_depth)
      else p_now + v_depth - least(floor(v_slack * v_interval / v_old), v_depth) end;
  end if;
  return (p_state - 'before') || jsonb_build_object('rate', p_rate, 'spent', v_spent)
    || case when v_interval is null then jsonb_build_object('before', v_before) else '{}' end;
end;
$$;
