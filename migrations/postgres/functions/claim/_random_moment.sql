-- A moment between one and the newest message of a queue that became visible before another.
create or replace function pgflow._random_moment(queue_name text, after timestamptz, before timestamptz)
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_newest timestamptz;
begin
  execute format('select max(m.vt) from pgmq.%I m where m.vt <= $1',
                 pgmq.format_table_name(_random_moment.queue_name, 'q'))
    into v_newest using _random_moment.before;
  return _random_moment.after + random() * (v_newest - _random_moment.after);
end;
$$;
