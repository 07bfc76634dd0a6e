-- Refuses a null as the published tables do.
create or replace function pgwf._refuse_null(p_value text, p_column text, p_table text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_value is null then
    raise exception 'null value in column "%" of relation "%" violates not-null constraint', p_column, p_table
      using errcode = 'not_null_violation', schema = 'pgwf', table = p_table, column = p_column;
  end if;
end;
$$;
