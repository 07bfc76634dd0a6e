-- What differs between two shapes, as sentences; empty if nothing does. Options do not count.
create or replace function pgflow._compare_flow_shapes(p_local jsonb, p_db jsonb) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_local jsonb := coalesce(p_local -> 'steps', '[]');
  v_db jsonb := coalesce(p_db -> 'steps', '[]');
  v_found text[] := '{}';
begin
  if jsonb_array_length(v_local) <> jsonb_array_length(v_db) then
    v_found := v_found || format('Step count differs: %s vs %s',
                                 jsonb_array_length(v_local), jsonb_array_length(v_db));
  end if;
  for i in 0 .. greatest(jsonb_array_length(v_local), jsonb_array_length(v_db)) - 1 loop
    v_found := v_found || pgflow._compare_step_shapes(i, v_local -> i, v_db -> i);
  end loop;
  return v_found;
end;
$$;
