-- Of jobs that a claim has found, those that it may hand out with what it has already, so many bytes: the best first, until it has
-- 64 MB, and one in any case. What comes after the first that does not fit waits too, and is not measured: it would overtake for ever.
create or replace function pgflow._fitting_jobs(p_ids text[], p_bytes bigint) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_line text[] := array(select j.id from pgflow.jobs j where j.id = any (p_ids) order by j.priority desc, j.seq);
  v_all bigint := p_bytes;
  v_bytes bigint;
begin
  for n in 1 .. cardinality(v_line) loop
    select octet_length(j.payload::text) + coalesce(octet_length(j.last_error), 0)
      into v_bytes from pgflow.jobs j where j.id = v_line[n];
    if v_all > 0 and v_all + v_bytes > pgflow._claim_bytes() then
      return v_line[:n - 1];
    end if;
    v_all := v_all + v_bytes;
  end loop;
  return v_line;
end;
$$;
