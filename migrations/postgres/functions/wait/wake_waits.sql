-- Lets waits go on that are due, or whose children have ended, up to `max_waits` of each; deletes signals that nobody has waited for
-- in time. Returns how many, also of waits that were told of an end and wait on, and the runs that it looked at. Any process may call it at any time; workers do so when they have ended a child, and with every sweep. Call it again while
-- it does anything: what ends here may be waited for itself. Children that nobody waits for any more are for cancel_abandoned,
-- which is a transaction of its own because runs are locked by id, and once.
create or replace function pgflow.wake_waits(
  max_waits int default 100, out woken int, out timed_out int, out expired int, out told int, out runs uuid[]
)
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
  v_ends record;
begin
  if coalesce(wake_waits.max_waits, 0) < 1 then
    raise exception 'At least one wait must be asked for, not %', coalesce(wake_waits.max_waits::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  select coalesce(array_agg(e.kind), '{}') as kinds, coalesce(array_agg(e.child), '{}') as children into v_ends
    from (select e.* from pgflow.wait_ends e limit wake_waits.max_waits) e;
  select w.woken, w.timed_out, w.told, w.runs into woken, timed_out, told, runs
    from pgflow._wake(null, v_ends.kinds, v_ends.children, wake_waits.max_waits) w;
  delete from pgflow.signals s
   where s.id in (
     select s.id from pgflow.signals s where s.expires_at <= clock_timestamp()
      order by s.expires_at limit wake_waits.max_waits for update skip locked);
  get diagnostics expired = row_count;
end;
$$;
