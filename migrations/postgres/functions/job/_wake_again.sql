-- Releases waiters of up to `limit` jobs and runs that ended where they were not seen. Unless it may `wait` for whoever holds one of those, it
-- leaves what somebody holds, and what would let nobody go on: whoever ends what else those wait for would wait for the caller's commit.
create or replace function pgflow._wake_again(p_limit int, p_worker text, p_wait boolean default true) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended record;
begin
  if not p_wait then
    -- Who is stricter does not see all that waits.
    if current_setting('transaction_isolation') <> 'read committed' then
      return;
    end if;
    perform set_config('pgflow.holds_keys', 'on', true);
  end if;
  for v_ended in
    select w.kind, array_agg(w.dependency) as ids, array_agg(w.outcome) as outcomes
      from (
        select * from pgflow.job_wakes w where p_wait or pgflow._lets_go_on(w.kind, w.dependency, w.outcome)
         order by w.dependency limit p_limit for update skip locked
      ) w
     -- One by one, so that one that is held keeps back no others.
     group by w.kind, case when not p_wait then w.dependency end order by 1
  loop
    continue when not case
      when p_wait then pgflow._lock_more_jobs(v_ended.ids, v_ended.kind)
      else pgflow._lock_jobs_at_once(pgflow._concerned_jobs(v_ended.ids, v_ended.kind)) end;
    perform pgflow._end_jobs(v_ended.ids, v_ended.outcomes, null, null, p_worker, null, null, null, v_ended.kind, true);
    -- Those that are still held stay for the next one.
    delete from pgflow.job_wakes w
     where w.dependency = any (v_ended.ids) and w.kind = v_ended.kind
       and not exists (select from pgflow.job_edges e where e.dependency = w.dependency and e.kind = w.kind);
  end loop;
end;
$$;
