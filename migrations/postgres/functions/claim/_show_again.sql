-- Makes messages visible that were read in vain.
create or replace function pgflow._show_again(queue_name text, msg_ids bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if _show_again.msg_ids is not null then
    perform pgflow.set_vt_batch(
      _show_again.queue_name, _show_again.msg_ids, array_fill(0, array[cardinality(_show_again.msg_ids)]));
  end if;
end;
$$;
