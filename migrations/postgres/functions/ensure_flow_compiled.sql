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
  -- What runs are started by stays the same.
  v_versions := array(select v from pgflow.flow_versions v where v.flow_slug = ensure_flow_compiled.flow_slug);
  perform pgflow.delete_flow_and_data(ensure_flow_compiled.flow_slug);
  perform pgflow._create_flow_from_shape(ensure_flow_compiled.flow_slug, ensure_flow_compiled.shape);
  insert into pgflow.flow_versions select v.* from unnest(v_versions) v;
  return jsonb_build_object('status', 'recompiled', 'differences', to_jsonb(v_differences));
end;
$$;
