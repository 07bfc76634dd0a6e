-- Refuses the name of a permit that is none. Names are data: any text but an empty one, a long one, or null.
create or replace function pgflow._check_slug(p_slug text, p_what text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(octet_length(p_slug) not between 1 and 128, true) then
    raise exception 'The name of a % has 1 to 128 bytes', p_what using errcode = 'invalid_parameter_value';
  end if;
end;
$$;
