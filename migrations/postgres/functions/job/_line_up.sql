-- Counts jobs in and out of the lines of their keys, and decides who is the head of each. The last thing that a
-- transition does: keys are locked by name, after all jobs.
create or replace function pgflow._line_up(p_keys text[], p_deltas int[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_keys) > 0 then
    insert into pgflow.job_keys (key, jobs)
    select i.key, sum(i.delta) from unnest(p_keys, p_deltas) i(key, delta) group by 1 order by 1
    on conflict (key) do update set jobs = job_keys.jobs + excluded.jobs;
    perform pgflow._pick_heads(p_keys);
  end if;
end;
$$;
