-- Says whose a token is, which is a secret itself.
create or replace function pgflow._who_has_token(token text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_sentence text;
begin
  select format('the hook''s token is taken by task %s of step %s of run %s', o.task_index, o.step_slug, o.run_id) into v_sentence
    from (
      select w.task_index, w.step_slug, w.run_id from pgflow.waits w where w.token = _who_has_token.token
      union all
      select h.task_index, h.step_slug, h.run_id from pgflow.hooks h where h.token = _who_has_token.token
    ) o
   limit 1;
  return coalesce(v_sentence, 'the hook''s token was announced to nobody');
end;
$$;
