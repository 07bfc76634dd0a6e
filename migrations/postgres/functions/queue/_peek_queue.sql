-- Whether a queue can be used and has something: 'any' message, a 'visible' one, one that somebody has 'taken', or the one of a
-- task that has 'stalled'. Where not, its lock is given up at once: a transaction that looks at a thousand queues would fill the
-- server's table of locks.
create or replace function pgflow._peek_queue(flow_slug text, what text, grace int default null) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue text := pgmq.format_table_name(_peek_queue.flow_slug, 'q');
  v_found boolean := false;
begin
  if pgflow._use_queue(_peek_queue.flow_slug) then
    execute case what
        when 'any' then format('select exists (select from pgmq.%I)', v_queue)
        when 'visible' then format('select exists (select from pgmq.%I where vt <= clock_timestamp())', v_queue)
        when 'taken' then format('select exists (select from pgmq.%I where read_ct > 0)', v_queue)
        else 'select exists (select from pgflow._stalled_tasks($1, $2))' end
      into v_found using _peek_queue.flow_slug, _peek_queue.grace;
  end if;
  if not v_found then
    -- What fails gives its locks back.
    raise exception using errcode = 'no_data_found';
  end if;
  return true;
exception when no_data_found then
  return false;
end;
$$;
