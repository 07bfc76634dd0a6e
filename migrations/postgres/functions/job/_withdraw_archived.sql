-- Takes back those of the inserted jobs whose ids are archived, and returns the positions that are left.
create or replace function pgflow._withdraw_archived(p_ids text[], p_dependencies text[], p_inserted int[])
returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_archived text[];
begin
  select array_agg(a.id) into v_archived
    from unnest(p_inserted) n join pgflow.job_archive a on a.id = p_ids[n];
  -- Others of the batch wait for it as if it were new.
  if v_archived && p_dependencies then
    raise exception 'A job of the batch ended while it was submitted' using errcode = 'serialization_failure';
  end if;
  with gone as (
    delete from pgflow.jobs j where j.id = any (v_archived) returning j.seq
  )
  delete from pgflow.job_trace t using gone g where t.trace_id = g.seq;
  return array(select n from unnest(p_inserted) n where p_ids[n] <> all (coalesce(v_archived, '{}')) order by n);
end;
$$;
