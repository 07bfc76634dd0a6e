-- As _wake, for waits of these flows whose moment has come, if nobody holds what that needs. Returns whether any went on.
create or replace function pgflow._wake_unless_held(flow_slugs text[]) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '1ms'
as $$
begin
  return (select w.woken + w.timed_out > 0 from pgflow._wake(_wake_unless_held.flow_slugs, '{}', '{}', 100) w);
exception when lock_not_available then
  return false;
end;
$$;
