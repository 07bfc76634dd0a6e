-- Inserts jobs that are not there yet, and their traces. In the order of ids, so that two batches with the same ones wait for each
-- other in turn; of two items with one id the first. Returns the positions that it inserted, in order. Fails if somebody else
-- inserts one of them meanwhile, and may be called again then.
create or replace function pgflow._insert_jobs(
  p_now timestamptz,
  p_ids text[],
  p_needs text[],
  p_payloads jsonb[],
  p_priorities int[],
  p_keys text[],
  p_wake_ats timestamptz[],
  p_expires_ats timestamptz[],
  p_max_attempts int[],
  p_traced boolean,
  p_worker text,
  p_details jsonb[]
) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_positions int[];
  v_known text[];
begin
  if cardinality(p_ids) = 1 then
    return pgflow._insert_job(
      p_now, p_ids[1], p_needs[1], p_payloads[1], p_priorities[1], p_keys[1], p_wake_ats[1], p_expires_ats[1], p_max_attempts[1], p_traced,
      p_worker, p_details[1]);
  end if;
  v_known := array(select j.id from pgflow.jobs j where j.id = any (p_ids));
  with job as materialized (
    select nextval('pgflow.jobs_seq') as seq, i.*
      from (
        select *
          from (
            select distinct on (i.id collate "C") i.*
              from unnest(p_ids, p_needs, p_payloads, p_priorities, p_keys, p_wake_ats, p_expires_ats, p_max_attempts, p_details)
                with ordinality i(id, need, payload, priority, key, wake_at, expires_at, max_attempts, detail, n)
             where i.id <> all (v_known)
             order by i.id collate "C", i.n
          ) i order by i.n
      ) i
  ), new as (
    insert into pgflow.jobs (seq, created_at, id, need, payload, priority, key, wake_at, expires_at, max_attempts, state)
    select i.seq, p_now, i.id, i.need, coalesce(i.payload, 'null'), coalesce(i.priority, 0), i.key, i.wake_at, i.expires_at, i.max_attempts,
           case when i.wake_at > p_now then 'sleeping' when i.key is not null then 'parked' else 'ready' end
      from job i order by i.id collate "C"
  ), traced as (
    insert into pgflow.job_trace (trace_id, at, need, worker, detail)
    select i.seq, null, i.need, p_worker, i.detail from job i where p_traced
  )
  select array_agg(i.n::int) into v_positions from job i;
  return coalesce(v_positions, '{}');
end;
$$;
