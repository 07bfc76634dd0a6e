-- As _insert_jobs, one by one, when others insert the same ids: waits for them, and leaves out what they had.
create or replace function pgflow._insert_new_jobs(
  p_now timestamptz,
  p_ids text[],
  p_needs text[],
  p_payloads jsonb[],
  p_priorities int[],
  p_keys text[],
  p_wake_ats timestamptz[],
  p_expires_ats timestamptz[],
  p_max_attempts int[],
  out inserted text[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  with job as materialized (
    select nextval('pgflow.jobs_seq') as seq, i.*
      from (
        select * from unnest(p_ids, p_needs, p_payloads, p_priorities, p_keys, p_wake_ats, p_expires_ats, p_max_attempts)
          with ordinality i(id, need, payload, priority, key, wake_at, expires_at, max_attempts, n)
         order by i.n
      ) i
  ), new as (
    insert into pgflow.jobs (seq, created_at, id, need, payload, priority, key, wake_at, expires_at, max_attempts, state)
    select i.seq, p_now, i.id, i.need, i.payload, coalesce(i.priority, 0), i.key, i.wake_at, i.expires_at, i.max_attempts,
           case when i.wake_at > p_now then 'sleeping' when i.key is not null then 'parked' else 'ready' end
      from job i order by i.id collate "C", i.seq
    on conflict (id) do nothing
    returning id
  )
  select array_agg(i.id) into inserted from new i;
end;
$$;
