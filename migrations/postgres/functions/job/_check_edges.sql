-- Refuses edges that are none: arrays of different lengths, positions that no job has, unknown kinds or policies, ids of
-- runs that are no ids. Returns the dependencies with their ids as they are stored.
create or replace function pgflow._check_edges(
  p_jobs int,
  p_edge_jobs int[],
  p_kinds text[],
  p_dependencies text[],
  p_policies text[]
) returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong text;
begin
  if num_nonnulls(p_edge_jobs, p_kinds, p_dependencies, p_policies) = 0 then
    return '{}';
  end if;
  if (pgflow._length(p_edge_jobs), coalesce(pgflow._length(p_kinds), cardinality(p_edge_jobs)), coalesce(pgflow._length(p_policies), cardinality(p_edge_jobs)))
     is distinct from (pgflow._length(p_dependencies), cardinality(p_dependencies), cardinality(p_dependencies)) then
    raise exception 'Arrays of edges must have one length' using errcode = 'array_subscript_error';
  end if;
  select format('%s %s of job %s with policy %s', e.kind, coalesce(e.dependency, 'null'), e.job, e.policy) into v_wrong
    from unnest(p_edge_jobs, p_kinds, p_dependencies, p_policies) e(job, kind, dependency, policy)
   where e.dependency is null or e.job is null or e.job not between 1 and p_jobs
      or coalesce(e.kind, 'job') not in ('job', 'run') or coalesce(e.policy, 'release') not in ('release', 'fail', 'cancel')
      or (e.kind = 'run' and e.dependency !~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$')
   limit 1;
  if found then
    raise exception 'This is nothing that a job can wait for: %', v_wrong
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_dependency', 'dependency', v_wrong);
  end if;
  return array(
    select case when e.kind = 'run' then lower(e.dependency) else e.dependency end
      from unnest(p_kinds, p_dependencies) with ordinality e(kind, dependency, n)
     where e.dependency is not null order by e.n);
end;
$$;
