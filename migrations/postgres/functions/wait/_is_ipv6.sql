-- Whether a text is an address of IPv6: eight groups, `::` for one or more that are zero, and the last two may be an address of IPv4.
create or replace function pgflow._is_ipv6(value text) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_four text := substring(value from '[0-9]+\.[0-9.]*$');
  v_groups text := value;
  v_before text;
  v_after text;
begin
  if v_four is not null then
    if not pgflow._is_ipv4(v_four) then
      return false;
    end if;
    v_groups := left(value, -char_length(v_four)) || '0:0';
  end if;
  if strpos(v_groups, '::') = 0 then
    return v_groups ~ '^([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}$';
  end if;
  v_before := left(v_groups, strpos(v_groups, '::') - 1);
  v_after := substr(v_groups, strpos(v_groups, '::') + 2);
  return v_before ~ '^([0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4})*)?$' and v_after ~ '^([0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4})*)?$'
     and cardinality(string_to_array(v_before, ':')) + cardinality(string_to_array(v_after, ':')) <= 7;
end;
$$;
