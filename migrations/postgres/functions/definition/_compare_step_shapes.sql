-- What differs between the steps that stand at one index of two shapes.
create or replace function pgflow._compare_step_shapes(step_index int, first jsonb, second jsonb) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at text := format('Step at index %s: ', _compare_step_shapes.step_index);
  v_found text[] := '{}';
  v_a text;
  v_b text;
  v_key text[];
begin
  if first is null then
    return array[v_at || format('missing in first shape (second has ''%s'')', second ->> 'slug')];
  elsif second is null then
    return array[v_at || format('missing in second shape (first has ''%s'')', first ->> 'slug')];
  end if;

  foreach v_key slice 1 in array array[['slug', 'slug'], ['stepType', 'type']] loop
    if first ->> v_key[1] <> second ->> v_key[1] then
      v_found := v_found || (v_at || format('%s differs ''%s'' vs ''%s''',
                                            v_key[2], first ->> v_key[1], second ->> v_key[1]));
    end if;
  end loop;

  select string_agg(d, ', ' order by d) into v_a from jsonb_array_elements_text(first -> 'dependencies') d;
  select string_agg(d, ', ' order by d) into v_b from jsonb_array_elements_text(second -> 'dependencies') d;
  if v_a is distinct from v_b then
    v_found := v_found || (v_at || format('dependencies differ [%s] vs [%s]', v_a, v_b));
  end if;

  foreach v_a in array array['whenUnmet', 'whenExhausted'] loop
    if first ->> v_a <> second ->> v_a then
      v_found := v_found || (v_at || format('%s differs ''%s'' vs ''%s''', v_a, first ->> v_a, second ->> v_a));
    end if;
  end loop;

  -- A pattern that one side does not mention is a difference, unlike the fields above.
  foreach v_a in array array['requiredInputPattern', 'forbiddenInputPattern'] loop
    if first -> v_a is distinct from second -> v_a then
      v_found := v_found || (v_at || format('%s differs ''%s'' vs ''%s''', v_a, first -> v_a, second -> v_a));
    end if;
  end loop;
  return v_found;
end;
$$;
