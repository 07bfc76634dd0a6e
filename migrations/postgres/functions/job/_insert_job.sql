-- As _insert_jobs, of one job, with statements that cost less to begin than those for many.
create or replace function pgflow._insert_job(
  p_now timestamptz,
  p_id text,
  p_need text,
  p_payload jsonb,
  p_priority int,
  p_key text,
  p_wake_at timestamptz,
  p_expires_at timestamptz,
  p_max_attempts int,
  p_traced boolean,
  p_worker text,
  p_detail jsonb
) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seq bigint;
begin
  if exists (select from pgflow.jobs j where j.id = p_id) then
    return '{}';
  end if;
  v_seq := nextval('pgflow.jobs_seq');
  insert into pgflow.jobs (seq, created_at, id, need, payload, priority, key, wake_at, expires_at, max_attempts, state)
  values (v_seq, p_now, p_id, p_need, coalesce(p_payload, 'null'), coalesce(p_priority, 0), p_key, p_wake_at, p_expires_at, p_max_attempts,
          case when p_wake_at > p_now then 'sleeping' when p_key is not null then 'parked' else 'ready' end);
  if p_traced then
    insert into pgflow.job_trace (trace_id, at, need, worker, detail) values (v_seq, null, p_need, p_worker, p_detail);
  end if;
  return '{1}';
end;
$$;
