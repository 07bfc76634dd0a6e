-- Refuses what cannot be done to a view by hand, and says what to do instead.
create or replace function pgwf._refuse_by_hand(p_problem text, p_hint text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception '%', p_problem using errcode = 'feature_not_supported', hint = p_hint;
end;
$$;
