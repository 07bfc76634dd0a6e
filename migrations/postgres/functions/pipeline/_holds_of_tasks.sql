-- What attempts at tasks hold that may be worked on, of these resources or of all: attempts that go on, and those whose step or run has
-- ended for as long as a lease of theirs may last, unless their worker has said that they are over (give_up_holds).
create or replace function pgflow._holds_of_tasks(p_resources text[]) returns setof pgflow.task_holds
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select h.*
      from pgflow.task_holds h
      join pgflow.step_tasks t
        on t.run_id = h.run_id and t.step_slug = h.step_slug and t.task_index = h.task_index
       and t.status = 'started' and t.attempts_count = h.attempt
      join pgflow.step_states s on s.run_id = h.run_id and s.step_slug = h.step_slug
      join pgflow.runs r on r.run_id = h.run_id
      join pgflow.steps d on d.flow_slug = t.flow_slug and d.step_slug = t.step_slug
      join pgflow.flows f on f.flow_slug = t.flow_slug
     where (p_resources is null or h.resource = any (p_resources))
       and (r.status = 'started' and s.status = 'started'
            or least(s.completed_at, s.failed_at, s.skipped_at, r.completed_at, r.failed_at, r.cancelled_at)
               > clock_timestamp() - make_interval(secs => coalesce(d.opt_timeout, f.opt_timeout)::float8 + 2 * pgflow._lease_grace()));
end;
$$;
