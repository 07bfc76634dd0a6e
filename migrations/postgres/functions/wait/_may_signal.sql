-- Whether who calls may send signals. In a function that runs with its owner's rights, current_user is the owner.
create or replace function pgflow._may_signal() returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return has_function_privilege(
    coalesce(nullif(current_setting('role'), 'none'), session_user), 'pgflow.signal(text, jsonb, text, interval)', 'execute');
end;
$$;
