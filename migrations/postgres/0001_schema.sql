-- The schema, and the rule for names that table constraints rely on.

create schema if not exists pgflow;
revoke all on schema pgflow from public;

-- A function and not a domain: its name is part of the published API.
create function pgflow.is_valid_slug(slug text) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return is_valid_slug.slug is not null
    and length(is_valid_slug.slug) between 1 and 128
    and is_valid_slug.slug <> 'run'
    and is_valid_slug.slug ~ '^[a-zA-Z_][a-zA-Z0-9_]*$';
end;
$$;
