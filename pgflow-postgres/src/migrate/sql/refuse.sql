do $pgflow$
declare
  v_path text := current_setting('search_path');
  v_newer text;
  v_problems text;
begin
  -- How the catalog spells types goes by the path.
  perform set_config('search_path', 'pg_catalog, pg_temp', true);
  select m.name || ' of version ' || m.library into v_newer
    from pgflow.migrations m
   where m.version > {VERSION}
      or (m.library ~ '^[0-9]{1,9}(\.[0-9]{1,9}){2}'
          and string_to_array(substring(m.library from '^[0-9]+\.[0-9]+\.[0-9]+'), '.')::int[] > array[{LIBRARY}])
   order by m.version desc nulls last limit 1;
  if v_newer is not null then
    raise exception 'the pgflow schema is newer (%) than this file', v_newer
      using hint = 'Write the files again with a newer version of pgflow.';
  end if;

  select string_agg(p.problem, '; ') into v_problems from (
    select m.name || ' was applied with other contents' as problem
      from pgflow.migrations m
      left join (values {FILES}) file (name, checksum) on file.name = m.name
     where m.version is not null and file.checksum is distinct from m.checksum
    union all
    select 'function ' || coalesce(f.signature, r.signature)
           || case when f.signature is null then ' is gone' when r.signature is null then ' was added'
                   else ' is not the one installed' end
      from pgflow.migration_functions r
      full join (
{FUNCTIONS}
      ) f on f.signature = r.signature
     where f.fingerprint is distinct from r.fingerprint
       and exists (select from pgflow.migration_functions)
    union all
    select case when f.object is null then r.object || ' is missing' when r.object is null then 'unexpected ' || f.object
                else r.object || ' is ' || f.definition || ' instead of ' || r.definition end
      from pgflow.migration_relations r
      full join (
{RELATIONS}
      ) f on f.object = r.object
     where f.definition is distinct from r.definition
       and exists (select from pgflow.migration_relations)
       -- Indexes of the users' own.
       and not (r.object is null and f.definition = 'index')
  ) p;
  if v_problems is not null then
    raise exception 'the pgflow schema is not as it was installed: %', v_problems
      using hint = 'Undo what was changed by hand, then apply the file again.';
  end if;
  perform set_config('search_path', v_path, true);
end
$pgflow$;
