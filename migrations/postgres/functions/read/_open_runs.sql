-- Runs of a flow that go on, at least the newest `qty` before a place in the list. They are among the newest runs,
-- or they are found by their messages and waits: a run that goes on has at least one of them, and one that has ended
-- has none (check() proves it). History is not read. May name runs that have ended.
create or replace function pgflow._open_runs(
  flow_slug text, started_since timestamptz, started_before timestamptz, before_run uuid, qty int
) returns setof uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = on
as $$
#variable_conflict use_column
declare
  v_runs uuid[];
begin
  -- A deep queue is that of many new runs, so it need not be read.
  v_runs := array(
    select n.run_id
      from (
        select r.run_id, r.status from pgflow.runs r
         where r.flow_slug = _open_runs.flow_slug
           and r.started_at >= _open_runs.started_since and r.started_at <= _open_runs.started_before
           and (_open_runs.started_before = 'infinity' or r.started_at < _open_runs.started_before
                or r.run_id < _open_runs.before_run)
         order by r.started_at desc, r.run_id desc limit greatest(500, 2 * _open_runs.qty)
      ) n
     where n.status = 'started');
  if cardinality(v_runs) >= _open_runs.qty then
    return query select unnest(v_runs);
  elsif pgflow._use_queue(_open_runs.flow_slug) then
    -- A wide map has many messages of one run: what they say is looked at once.
    return query execute format(
      'select m.run_id::uuid from (select distinct q.message ->> ''run_id'' as run_id from pgmq.%I q offset 0) m
        where m.run_id ~ ''^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$''
       union select w.run_id from pgflow.waits w where w.flow_slug = $1',
      pgmq.format_table_name(_open_runs.flow_slug, 'q')) using _open_runs.flow_slug;
  else
    return query select r.run_id from pgflow.runs r where r.flow_slug = _open_runs.flow_slug and r.status = 'started';
  end if;
end;
$$;
