-- Says how one attempt ended that does more than settle_jobs takes: it forks jobs, or hands itself over to wait for others. What it
-- forks is submitted if and only if this takes effect, before the verdict does, so that it can wait for that. `ending`:
--   {"verdict": …, "payload": …, "error": …, "delay": …, "need": …, "wake_at": …, "max_attempts": …, "after": [edge, …],
--    "forks": [{"id", "need", "payload", "priority", "key", "wake_at", "delay", "expires_at", "lifetime", "max_attempts", "after"}, …]}
-- with edges {"kind", "id", "policy"}, and moments as text, or as microseconds since 1970. Answers as settle_jobs; and `refused`, with what is wrong, where the job stays leased. With
-- `impossible` the caller knows already that it is to be refused, unless something else is to be said.
create or replace function pgflow.settle_job(id text, token text, ending jsonb, worker text default null, impossible boolean default false)
returns table (outcome text, problem jsonb)
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
  v_forks jsonb := coalesce(ending -> 'forks', '[]');
  v_may_end boolean;
  v_edges record;
  v_detail text;
begin
  perform pgflow._check_ending(ending);
  select coalesce(array_agg(e.kind), '{}') as kinds, coalesce(array_agg(e.id), '{}') as dependencies into v_edges
    from (
      select w ->> 'kind' as kind, w ->> 'id' as id from jsonb_array_elements(coalesce(ending -> 'after', '[]')) w
      union all
      select w ->> 'kind', w ->> 'id' from jsonb_array_elements(v_forks) f, jsonb_array_elements(coalesce(f -> 'after', '[]')) w
    ) e;
  perform pgflow._check_edges(1, array_fill(1, array[cardinality(v_edges.kinds)]), v_edges.kinds, v_edges.dependencies, null);
  -- Who hands over and is to be cancelled ends, too.
  v_may_end := ending ->> 'verdict' not in ('handed_over', 'released')
    or exists (select from pgflow.jobs j where j.id = settle_job.id and j.cancel_at is not null);
  -- In one pass with the job itself, as all who hand over do.
  perform pgflow._lock_dependencies(v_edges.kinds, v_edges.dependencies, array[settle_job.id], null, p_may_end => v_may_end);
  if pgflow._held_jobs(array[settle_job.id], array[settle_job.token], v_may_end) = '{}' then
    return query select o.outcome, null::jsonb from pgflow._job_outcomes(array[settle_job.id], array[settle_job.token], '{}') o;
    return;
  end if;
  if ending ->> 'verdict' <> 'finished' and exists (select from pgflow.jobs j where j.id = settle_job.id and j.cancel_at is not null) then
    return query select o.outcome, null::jsonb from pgflow.release_jobs(array[settle_job.id], array[settle_job.token], settle_job.worker) o;
    return;
  end if;
  if impossible then
    return query select 'refused', null::jsonb;
    return;
  end if;
  begin
    perform pgflow._submit_forks(v_forks, settle_job.worker);
    return query select pgflow._settle_one(settle_job.id, settle_job.token, ending, settle_job.worker), null::jsonb;
  exception when foreign_key_violation or invalid_parameter_value or null_value_not_allowed or program_limit_exceeded then
    get stacked diagnostics v_detail = pg_exception_detail;
    if v_detail not like '{"%' then
      raise;
    end if;
    return query select 'refused', v_detail::jsonb;
  end;
end;
$$;
