-- What becomes of tasks that a claim has found, if they may be more than it hands out at once: 'started' until that is full and
-- one in any case ('heavy', if its input takes some care), then 'over', to be asked for again; 'never' for one that is
-- given more than anybody takes. What comes
-- after the first that does not fit waits too, and is not measured: it would overtake for ever.
create or replace function pgflow._fates(run_ids uuid[], step_slugs text[], task_indexes int[]) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fates text[] := array_fill('over'::text, array[cardinality(run_ids)]);
  v_all bigint := 0;
  v_bytes bigint;
begin
  for n in 1 .. cardinality(run_ids) loop
    v_bytes := pgflow._input_bytes(run_ids[n], step_slugs[n], task_indexes[n]);
    if v_bytes > pgflow._input_limit() then
      v_fates[n] := 'never';
      continue;
    end if;
    exit when v_all > 0 and v_all + v_bytes > pgflow._claim_bytes();
    v_fates[n] := case when v_bytes > pgflow._heavy_bytes() then 'heavy' else 'started' end;
    v_all := v_all + v_bytes;
  end loop;
  return v_fates;
end;
$$;
