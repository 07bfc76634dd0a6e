-- The events of all runs, as readers see them. Within a run `seq` is dense: whoever has read number
-- n has all below it, and more come only above.
create or replace view pgflow.events as
select
  log.run_id,
  log.last_seq - cardinality(log.events) + event.n::int as seq,
  word.event_type,
  word.step_slug,
  jsonb_build_object('event_type', word.event_type, 'run_id', log.run_id)
    || pgflow._event_payload(word.event_type, run, step)
    || coalesce(log.details[event.n], '{}') as payload,
  log.at
from pgflow.event_log log
cross join lateral unnest(log.events) with ordinality event(words, n)
cross join lateral (
  select split_part(event.words, ' ', 1) as event_type, nullif(split_part(event.words, ' ', 2), '') as step_slug
) word
join pgflow.runs run on run.run_id = log.run_id
left join pgflow.step_states step on step.run_id = log.run_id and step.step_slug = word.step_slug;
