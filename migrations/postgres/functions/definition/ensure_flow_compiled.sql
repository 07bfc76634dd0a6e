-- Makes the stored flow be of this shape, or says how it differs.
create or replace function pgflow.ensure_flow_compiled(
  flow_slug text,
  shape jsonb,
  allow_data_loss boolean default false
) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_differences text[];
  v_versions pgflow.flow_versions[];
begin
  -- A shape that got lost must not delete a flow with all its runs.
  if jsonb_typeof(ensure_flow_compiled.shape -> 'steps') is distinct from 'array' then
    raise exception 'The shape of flow "%" has no list of steps', ensure_flow_compiled.flow_slug
      using errcode = 'invalid_parameter_value';
  end if;
  perform pg_advisory_xact_lock(1, hashtext(ensure_flow_compiled.flow_slug));

  if not exists (select from pgflow.flows f where f.flow_slug = ensure_flow_compiled.flow_slug) then
    perform pgflow._create_flow_from_shape(ensure_flow_compiled.flow_slug, ensure_flow_compiled.shape);
    return jsonb_build_object('status', 'compiled', 'differences', '[]'::jsonb);
  end if;

  v_differences := pgflow._compare_flow_shapes(
    ensure_flow_compiled.shape,
    pgflow._get_flow_shape(ensure_flow_compiled.flow_slug)
  );
  if v_differences = '{}' then
    return jsonb_build_object('status', 'verified', 'differences', '[]'::jsonb);
  elsif not coalesce(ensure_flow_compiled.allow_data_loss, false) then
    return jsonb_build_object('status', 'mismatch', 'differences', to_jsonb(v_differences));
  end if;
  if jsonb_array_length(ensure_flow_compiled.shape -> 'steps') = 0 then
    raise exception 'Flow "%" has steps, and its new shape has none: delete it with pgflow.delete_flow_and_data if that is meant',
      ensure_flow_compiled.flow_slug using errcode = 'invalid_parameter_value';
  end if;
  -- What runs are started by stays the same. Seen under the locks of the deletion: it may just have changed.
  perform pg_advisory_xact_lock(2, hashtext(lower(ensure_flow_compiled.flow_slug)));
  perform pgflow._seize_flow(ensure_flow_compiled.flow_slug);
  v_versions := array(select v from pgflow.flow_versions v where v.flow_slug = ensure_flow_compiled.flow_slug);
  perform pgflow.delete_flow_and_data(ensure_flow_compiled.flow_slug);
  perform pgflow._create_flow_from_shape(ensure_flow_compiled.flow_slug, ensure_flow_compiled.shape);
  insert into pgflow.flow_versions select v.* from unnest(v_versions) v;
  return jsonb_build_object('status', 'recompiled', 'differences', to_jsonb(v_differences));
end;
$$;
