-- The round trip of a worker that does jobs too: settles tasks as settle_and_claim does, then jobs as settle_jobs does, then claims up to
-- `qty` of both, in one transaction. Jobs are wanted in parts, each with the length of its leases and its most: `wanted_parts` says which
-- part each of `wanted_needs` is in, from 1. One kind may fill the room before the other.
--
-- Rows come in this order: those of settle_and_claim about tasks, per settled job its outcome (kind 'job'), then what was claimed, a
-- task ('claimed') or a job ('leased'); last, if there was room left, in how many seconds the next job may be had ('next').
--
-- Locks are taken in the order that all keep: steps, runs, tasks and messages, then jobs by id, then keys. Claims come last and wait
-- for nobody. Jobs that wait for a run which ends here are locked before the others. If somebody holds one of those then, none of
-- them is settled: there are no rows of kind 'job', and settle_jobs is to be called.
create or replace function pgflow.settle_and_claim_all(
  done_runs uuid[] default null,
  done_steps text[] default null,
  done_indexes int[] default null,
  done_outputs jsonb[] default null,
  done_attempts int[] default null,
  failed_runs uuid[] default null,
  failed_steps text[] default null,
  failed_indexes int[] default null,
  failed_errors text[] default null,
  failed_attempts int[] default null,
  failed_delays int[] default null,
  failed_fatal boolean[] default null,
  queue_names text[] default null,
  qty int default 0,
  worker_id uuid default null,
  limited_flows text[] default null,
  limited_steps text[] default null,
  limited_quotas int[] default null,
  job_ids text[] default null,
  job_tokens text[] default null,
  job_verdicts text[] default null,
  job_payloads jsonb[] default null,
  job_errors text[] default null,
  job_delays bigint[] default null,
  job_needs text[] default null,
  job_wake_ats timestamptz[] default null,
  job_max_attempts int[] default null,
  worker text default null,
  wanted_needs text[] default null,
  wanted_parts int[] default null,
  part_seconds double precision[] default null,
  part_quotas int[] default null,
  tasks_first boolean default true
) returns table (
  kind text, outcome text, flow_slug text, run_id uuid, input jsonb, task pgflow.step_task_record, job pgflow.jobs,
  next_in double precision
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
#variable_conflict use_column
declare
  v_left int := coalesce(qty, 0);
  v_room int;
  v_got int;
  v_needs text[];
  v_next double precision;
begin
  if cardinality(done_runs) > 0 or cardinality(failed_runs) > 0 then
    return query
      select s.kind, s.outcome, s.flow_slug, s.run_id, s.input, null::pgflow.step_task_record, null::pgflow.jobs, null::double precision
        from pgflow.settle_and_claim(
          done_runs, done_steps, done_indexes, done_outputs, done_attempts, failed_runs, failed_steps, failed_indexes, failed_errors,
          failed_attempts, failed_delays, failed_fatal, '{}', 0) s;
  end if;
  if cardinality(job_ids) > 0
    and (current_setting('pgflow.holds_jobs', true) is distinct from 'on' or pgflow._lock_jobs_at_once(pgflow._concerned_jobs(job_ids))) then
    return query
      select 'job', s.outcome, null::text, null::uuid, null::jsonb, null::pgflow.step_task_record, null::pgflow.jobs, null::double precision
        from pgflow.settle_jobs(
          job_ids, job_tokens, job_verdicts, job_payloads, job_errors, job_delays, job_needs, job_wake_ats, job_max_attempts,
          settle_and_claim_all.worker) s;
  end if;
  -- Tasks come in the first round or in the last.
  for v_part in 0 .. coalesce(cardinality(part_seconds), 0) + 1 loop
    exit when v_left <= 0;
    if v_part = (case when tasks_first then 0 else coalesce(cardinality(part_seconds), 0) + 1 end) then
      return query
        select 'claimed', null::text, null::text, null::uuid, null::jsonb, c, null::pgflow.jobs, null::double precision
          from pgflow.claim_tasks(queue_names, v_left, settle_and_claim_all.worker_id, limited_flows, limited_steps, limited_quotas) c;
      get diagnostics v_got = row_count;
      v_left := v_left - v_got;
      if v_left > 0 then
        v_next := least(v_next, pgflow.next_wait(queue_names));
      end if;
    elsif v_part between 1 and cardinality(part_seconds) then
      v_room := least(v_left, part_quotas[v_part]);
      v_needs := array(select n.need from unnest(wanted_needs, wanted_parts) n(need, part) where n.part = v_part);
      perform pgflow._check_claim(settle_and_claim_all.worker, v_needs, part_seconds[v_part], v_room);
      return query
        select 'leased', null::text, null::text, null::uuid, null::jsonb, null::pgflow.step_task_record, j, null::double precision
          from pgflow._claim_jobs(settle_and_claim_all.worker, v_needs, part_seconds[v_part], v_room) j;
      get diagnostics v_got = row_count;
      v_left := v_left - v_got;
      if v_got < v_room then
        v_next := least(v_next, pgflow.next_job(v_needs));
      end if;
    end if;
  end loop;
  if v_next is not null then
    return query
      select 'next', null::text, null::text, null::uuid, null::jsonb, null::pgflow.step_task_record, null::pgflow.jobs, v_next;
  end if;
end;
$$;
