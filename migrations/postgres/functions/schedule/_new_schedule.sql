-- What a schedule is after create_schedule: what it was, or a new one, with these values. Its moments are found out anew if they
-- may be others; its revision is another one if anything is.
create or replace function pgflow._new_schedule(
  old pgflow.schedules, at timestamptz, name text, flow_slug text, cron text, input jsonb, time_zone text, missed text,
  overlap text, first_at timestamptz, begins_at timestamptz, versions int[], interface text, origin text
) returns pgflow.schedules
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_new pgflow.schedules := old;
  v_is_begun_anew boolean := _new_schedule.first_at is not null or _new_schedule.begins_at is not null;
begin
  v_new.name := _new_schedule.name;
  v_new.flow_slug := _new_schedule.flow_slug;
  v_new.versions := _new_schedule.versions;
  v_new.interface := _new_schedule.interface;
  v_new.input := _new_schedule.input;
  v_new.cron := _new_schedule.cron;
  v_new.time_zone := _new_schedule.time_zone;
  v_new.missed := _new_schedule.missed;
  v_new.overlap := _new_schedule.overlap;
  v_new.origin := _new_schedule.origin;
  -- A program that reads what another could not has it work again.
  if v_new is not distinct from old and not v_is_begun_anew and old.status is distinct from 'broken' then
    return v_new;
  end if;
  -- From the clock on, so that what a worker found out about one that was removed is never about this one.
  v_new.revision := coalesce(old.revision + 1, (extract(epoch from at) * 1000000)::bigint);
  v_new.created_at := coalesce(old.created_at, at);
  if v_is_begun_anew or old.name is null or old.status = 'broken'
     or (old.cron, old.time_zone) is distinct from (v_new.cron, v_new.time_zone) then
    v_new := pgflow._begin_schedule(
      v_new, coalesce(coalesce(_new_schedule.first_at, _new_schedule.begins_at) - interval '1 microsecond', at));
  end if;
  if _new_schedule.first_at is not null then
    v_new.status := 'active';
    v_new.next_at := _new_schedule.first_at;
  end if;
  return v_new;
end;
$$;
