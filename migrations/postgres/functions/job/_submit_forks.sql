-- Submits what an attempt forks; see settle_job. What is there already is left as it is. Returns the ids.
create or replace function pgflow._submit_forks(p_forks jsonb, p_worker text) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_new record;
  v_edges record;
begin
  if p_forks = '[]' then
    return '{}';
  end if;
  select array_agg(f ->> 'id' order by n) as ids, array_agg(f ->> 'need' order by n) as needs, array_agg(f -> 'payload' order by n) as payloads,
         array_agg((f ->> 'priority')::int order by n) as priorities, array_agg(f ->> 'key' order by n) as keys,
         array_agg(pgflow._moment(f -> 'wake_at') order by n) as wake_ats, array_agg((f ->> 'delay')::bigint order by n) as delays,
         array_agg(pgflow._moment(f -> 'expires_at') order by n) as expires_ats, array_agg((f ->> 'lifetime')::bigint order by n) as lifetimes,
         array_agg((f ->> 'max_attempts')::int order by n) as max_attempts
    into v_new from jsonb_array_elements(p_forks) with ordinality f(f, n);
  select array_agg(f.n::int order by f.n, w.n) as jobs, array_agg(w ->> 'kind' order by f.n, w.n) as kinds,
         array_agg(w ->> 'id' order by f.n, w.n) as dependencies, array_agg(w ->> 'policy' order by f.n, w.n) as policies
    into v_edges
    from jsonb_array_elements(p_forks) with ordinality f(f, n),
         jsonb_array_elements(coalesce(f.f -> 'after', '[]')) with ordinality w(w, n);
  return array(select s.id from pgflow.submit_jobs(
    v_new.ids, v_new.needs, v_new.payloads, v_new.priorities, v_new.keys, v_new.wake_ats, v_new.delays, v_new.expires_ats,
    v_new.lifetimes, v_new.max_attempts, v_edges.jobs, v_edges.kinds, v_edges.dependencies, v_edges.policies, p_worker) s);
end;
$$;
