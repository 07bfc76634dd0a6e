-- Drivers that send no types let the server guess which generation a call by position is of. Its words tell: where the
-- older one has a key and then a moment, the newer one has a payload or something that is no moment.
create or replace function pgwf._means_older(p_key text, p_moment text) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(p_key !~ '^\s*[\[{"]', true) and coalesce(pgwf._is_moment(p_moment), p_key is not null);
end;
$$;
