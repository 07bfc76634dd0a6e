-- Sets a rate: so many in a period, and so many at once when none were taken for long enough; 0 is a pause. Counts from the next claim
-- on, everywhere, until a program declares another one. There are as many tokens as there were, up to the new burst. A rate that is not there is made.
create or replace function pgflow.set_rate(slug text, amount int, period interval default '1 second', burst int default 1) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_micros numeric := floor(extract(epoch from period) * 1000000);
  v_rate jsonb := jsonb_build_object('amount', amount, 'period', v_micros, 'burst', burst);
begin
  perform pgflow._check_slug(slug, 'rate');
  if coalesce(amount < 0, true) then
    raise exception 'A rate cannot be %; to pause, set a rate of 0', coalesce(amount::text, 'null') using errcode = 'invalid_parameter_value';
  end if;
  if coalesce(burst, 0) < 1 then
    raise exception 'A rate must have a burst of at least 1; to pause, set a rate of 0' using errcode = 'invalid_parameter_value';
  end if;
  if coalesce(v_micros < 1 or amount > v_micros, true) then
    raise exception 'A rate cannot be more than one per microsecond, and its period must not be empty' using errcode = 'invalid_parameter_value';
  end if;
  if v_micros > 3155760000000000 then
    raise exception 'The period of a rate cannot be longer than a hundred years' using errcode = 'invalid_parameter_value';
  end if;
  insert into pgflow.permits as p (kind, name, state)
  values ('rate', slug, jsonb_build_object('rate', v_rate, 'declared', v_rate, 'spent', -9223372036854775808))
  on conflict (kind, name) do update
    set state = pgflow._moved_rate(p.state, v_rate, floor(extract(epoch from clock_timestamp()) * 1000000));
end;
$$;
