-- Releases waiters of up to `limit` jobs and runs that ended where they were not seen.
create or replace function pgflow._wake_again(p_limit int, p_worker text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended record;
begin
  for v_ended in
    select w.kind, array_agg(w.dependency) as ids, array_agg(w.outcome) as outcomes
      from (select * from pgflow.job_wakes w order by w.dependency limit p_limit for update skip locked) w
     group by 1 order by 1
  loop
    continue when not pgflow._lock_more_jobs(v_ended.ids, v_ended.kind);
    perform pgflow._end_jobs(v_ended.ids, v_ended.outcomes, null, null, p_worker, null, null, null, v_ended.kind, true);
    -- Those that are still held stay for the next sweep.
    delete from pgflow.job_wakes w
     where w.dependency = any (v_ended.ids) and w.kind = v_ended.kind
       and not exists (select from pgflow.job_edges e where e.dependency = w.dependency and e.kind = w.kind);
  end loop;
end;
$$;
