-- The events of all runs as they were written, without the payloads that readers get.
create or replace function pgflow._event_words()
returns table (run_id uuid, seq int, event_type text, step_slug text, detail jsonb, at timestamptz)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select log.run_id, log.last_seq - cardinality(log.events) + event.n::int, split_part(event.words, ' ', 1),
         nullif(split_part(event.words, ' ', 2), ''), log.details[event.n], log.at
    from pgflow.event_log log
    cross join lateral unnest(log.events) with ordinality event(words, n)
$$;
