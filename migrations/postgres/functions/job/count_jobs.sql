-- Live jobs by need and state, of up to `most` of them, so that a look takes no longer when there are millions; of all if that is
-- null. Of those that are ready, also the first in line, and since when it could have been taken: the trace
-- knows that best, if there is one.
create or replace function pgflow.count_jobs(most bigint)
returns table (need text, state text, jobs bigint, first_ready_at timestamptz, first_ready text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    select c.need::text, c.state::text, c.jobs, f.since, f.id::text
      from (select s.need, s.state, count(*) as jobs
              from (select j.need, j.state from pgflow.jobs j limit count_jobs.most) s group by s.need, s.state) c
      left join lateral (
        select greatest(h.created_at, h.wake_at, (select max(t.at) from pgflow.job_trace t where t.job = h.id and t.kind <> 'submitted'))
                 as since, h.id
          from pgflow.jobs h
         where c.state = 'ready' and h.need = c.need and h.state = 'ready'
         order by h.priority desc, h.seq limit 1
      ) f on true
     order by 1, 2;
end;
$$;
