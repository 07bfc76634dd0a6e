-- What claims have to know of a message besides its job; no row if that is nothing.
create or replace function pgflow.get_message(id text) returns table (batch_key text, resources jsonb, not_before timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query select m.batch_key, m.resources, m.not_before from pgflow.job_messages m where m.job = get_message.id;
end;
$$;
