do $pgflow$
begin
  -- The parameter `conditional` came with 1.5.
  if pg_catalog.to_regprocedure('pgmq.read_with_poll(text,integer,integer,integer,integer,jsonb)') is null then
    raise exception 'pgflow needs pgmq 1.5 or later in this database'
      using hint = 'Run "create extension pgmq", or install pgmq''s SQL; the top of this file says how.';
  end if;
end
$pgflow$;
