-- What jobs put out, and how children ended, is checked as answers are.
alter table pgflow.waits
  drop constraint waits_schema_is_of_a_hook,
  add constraint waits_schema_is_of_no_sleep check (schema is null or kind <> 'sleep');
