-- What becomes of tasks that a claim has found, if they may be more than it hands out at once: 'started' until that is full and
-- one in any case ('heavy', if its input takes some care), then 'over', to be asked for again; 'never' for one that is
-- given more than anybody takes. What comes
-- after the first that does not fit waits too, and is not measured: it would overtake for ever. `taken` is what the claim hands out
-- already; `bytes` what those that start are given.
create or replace function pgflow._fates(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  taken bigint,
  out fates text[],
  out bytes bigint
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_all bigint := _fates.taken;
  v_bytes bigint;
begin
  fates := array_fill('over'::text, array[cardinality(run_ids)]);
  for n in 1 .. cardinality(run_ids) loop
    v_bytes := pgflow._input_bytes(run_ids[n], step_slugs[n], task_indexes[n]);
    if v_bytes > pgflow._input_limit() then
      fates[n] := 'never';
      continue;
    end if;
    exit when v_all > 0 and v_all + v_bytes > pgflow._claim_bytes();
    fates[n] := case when v_bytes > pgflow._heavy_bytes() then 'heavy' else 'started' end;
    v_all := v_all + v_bytes;
  end loop;
  bytes := v_all - _fates.taken;
end;
$$;
