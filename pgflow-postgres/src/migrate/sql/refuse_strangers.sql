do $pgflow$
declare
  v_path text := current_setting('search_path');
  v_stranger record;
begin
  -- How the catalog spells functions goes by the path.
  perform set_config('search_path', 'pg_catalog, pg_temp', true);
  for v_stranger in
{STRANGERS}
  loop
    raise exception 'pgflow would give another role the rights of %: %', current_user, v_stranger.what
      using hint = v_stranger.way_out;
  end loop;
  perform set_config('search_path', v_path, true);
end
$pgflow$;
