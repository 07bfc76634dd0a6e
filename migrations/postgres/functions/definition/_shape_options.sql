-- The options of a flow or step, from its row: opt_max_attempts is maxAttempts in a shape. Columns that are null inherit.
create or replace function pgflow._shape_options(p_row jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select ('{' || coalesce(string_agg(to_json(lower(left(o.name, 1)) || substr(o.name, 2)) || ':' || o.value, ','), '') || '}')::jsonb
    from (
      select replace(initcap(replace(substr(c.key, 5), '_', ' ')), ' ', '') as name, c.value
        from jsonb_each(p_row) c
       where c.key like 'opt\_%' and c.value <> 'null') o
$$;
