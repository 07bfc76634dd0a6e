-- Refuses a batch whose arrays do not belong together.
create or replace function pgflow._check_job_batch(p_ids text[], p_lengths int[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_ids is null or pgflow._length(p_ids) <> any (p_lengths) then
    raise exception 'Arrays must have one length: % jobs, and % of what belongs to them', cardinality(p_ids), p_lengths
      using errcode = 'array_subscript_error';
  end if;
end;
$$;
