-- Appends to the trace what happened to jobs, if it is switched on. One element of `details` per job, or none at all.
create or replace function pgflow._trace_jobs(
  p_kind text,
  p_ids text[],
  p_needs text[],
  p_tokens uuid[],
  p_worker text,
  p_details jsonb[] default null
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into pgflow.job_trace (token, kind, job, need, worker, detail)
  select i.token, p_kind, i.id, i.need, p_worker, i.detail
    from unnest(p_ids, p_needs, p_tokens, p_details) i(id, need, token, detail)
   where (select s.trace from pgflow.job_settings s);
end;
$$;
