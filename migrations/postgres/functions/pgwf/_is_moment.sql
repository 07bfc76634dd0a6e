-- Whether a bare literal reads as a moment; null for null. A key may begin like one.
create or replace function pgwf._is_moment(p_word text) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_word ~* '^\s*(\d{4,6}-\d{1,2}-\d{1,2}([T\s]\s*\d{1,2}:.*)?(\s*(z|utc|gmt|\+\d{1,2}(:?\d{2})?))?(\s+bc)?|-?infinity|now|today|tomorrow)\s*$';
end;
$$;
