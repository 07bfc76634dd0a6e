-- Refuses a schedule that is somebody else's, or begins in the past.
create or replace function pgflow._check_schedule(by text, origin text, begins timestamptz, at timestamptz) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if begins < at then
    raise exception 'The schedule is to begin in the past: at %, and it is %', begins, at
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object(
        'problem', 'begins_in_the_past', 'begins', (extract(epoch from begins) * 1000000)::bigint,
        'now', (extract(epoch from at) * 1000000)::bigint);
  end if;
  if by <> origin then
    raise exception 'A schedule of this name was made by %',
        case by when 'source' then 'the source of its flow' else 'somebody at run time' end
      using errcode = 'object_not_in_prerequisite_state',
            detail = jsonb_build_object('problem', 'schedule_taken', 'by', by);
  end if;
end;
$$;
