-- Makes a schedule, or changes the one of this name, and says which: created, replaced or unchanged. One that is paused stays
-- so. Its first moment is `first_at`; without it, a worker finds it out, which also says if it can't read `cron` or
-- `time_zone`. With `begins_at`, no moment before that one counts. A flow's name may be that of one of its versions.
create or replace function pgflow.create_schedule(
  name text,
  flow_slug text,
  cron text,
  input jsonb default '{}',
  time_zone text default 'UTC',
  missed text default 'last',
  overlap text default 'allow',
  first_at timestamptz default null,
  begins_at timestamptz default null,
  versions int[] default null,
  interface text default null,
  origin text default 'client'
) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_now timestamptz;
  v_new pgflow.schedules;
  v_old pgflow.schedules;
begin
  perform pgflow._check_schedule_words(create_schedule.name, create_schedule.missed, create_schedule.overlap,
                                       array[create_schedule.first_at, create_schedule.begins_at]);
  perform pgflow._check_payload(create_schedule.input, 'the schedule''s input');
  if not exists (
    select from pgflow.flows f
     where f.flow_slug = pgflow._flow_to_start(create_schedule.flow_slug, create_schedule.versions, create_schedule.interface)
  ) then
    raise exception 'Flow "%" not found', create_schedule.flow_slug
      using errcode = 'foreign_key_violation', schema = 'pgflow', table = 'schedules', constraint = 'runs_flow_slug_fkey';
  end if;
  loop
    select s.* into v_old from pgflow.schedules s where s.name = create_schedule.name for update;
    v_now := clock_timestamp();
    perform pgflow._check_schedule(v_old.origin, create_schedule.origin,
                                   coalesce(create_schedule.begins_at, create_schedule.first_at), v_now);
    v_new := pgflow._new_schedule(v_old, v_now, create_schedule.name, create_schedule.flow_slug, create_schedule.cron,
      create_schedule.input, create_schedule.time_zone, create_schedule.missed, create_schedule.overlap,
      create_schedule.first_at, create_schedule.begins_at, create_schedule.versions, create_schedule.interface,
      create_schedule.origin);
    if v_old.name is null then
      insert into pgflow.schedules select v_new.* on conflict do nothing;
      if found then
        return 'created';
      end if;
      -- Somebody was faster: look at theirs.
    elsif v_new.revision = v_old.revision then
      return 'unchanged';
    else
      -- In place: whoever waits for the row is to find it.
      update pgflow.schedules s
         set flow_slug = v_new.flow_slug, versions = v_new.versions, interface = v_new.interface, input = v_new.input,
             cron = v_new.cron, time_zone = v_new.time_zone, missed = v_new.missed, overlap = v_new.overlap,
             revision = v_new.revision, status = v_new.status, after_at = v_new.after_at, next_at = v_new.next_at,
             error = v_new.error, queued_at = v_new.queued_at, queued_runs = v_new.queued_runs
       where s.name = v_old.name;
      return 'replaced';
    end if;
  end loop;
end;
$$;
