-- Of moments that may have come, those that have, and of those the ones that start a run: all that are not missed, and as many as
-- `missed` makes up for.
create or replace function pgflow._choose_moments(
  schedule pgflow.schedules, due timestamptz[], run_ids uuid[],
  out moments timestamptz[], out run_ids_chosen uuid[], out skipped int, out last timestamptz
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_now timestamptz := clock_timestamp();
  v_many int;
  v_in_time int;
  v_wanted int;
begin
  select coalesce(array_agg(d.at order by d.n), '{}'), coalesce(array_agg(d.run order by d.n), '{}')
    into moments, run_ids_chosen
    from unnest(due, run_ids) with ordinality d(at, run, n)
   where d.at > schedule.after_at and d.at <= v_now;
  v_many := cardinality(moments);
  last := moments[v_many];
  v_in_time := (select count(*) from unnest(moments) d(at) where d.at + make_interval(secs => pgflow._schedule_late()) >= v_now);
  v_wanted := case schedule.missed when 'skip' then 0 when 'last' then 1
                                   else substring(schedule.missed from '\d+')::int end;
  v_wanted := least(v_many, greatest(v_in_time, v_wanted));
  skipped := v_many - v_wanted;
  moments := moments[v_many - v_wanted + 1:];
  run_ids_chosen := run_ids_chosen[v_many - v_wanted + 1:];
end;
$$;
