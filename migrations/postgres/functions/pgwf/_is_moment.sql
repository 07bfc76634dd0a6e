-- Whether a bare literal reads as a moment; null for null.
create or replace function pgwf._is_moment(p_word text) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_word ~* '^\s*(\d{4,6}-\d{1,2}-\d{1,2}|-?infinity\s*$|now\s*$|today\s*$|tomorrow\s*$)';
end;
$$;
