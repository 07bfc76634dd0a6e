-- Refuses to keep one more signal for a token or task that has as many as can be. The caller holds it.
create or replace function pgflow._check_kept(p_token text, p_run uuid, p_step text, p_index int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept int := (
    select count(*) from (
      select from pgflow.signals s where s.token = p_token and s.payload is not null and s.expires_at > clock_timestamp()
      union all
      select from pgflow.signals s
       where s.run_id = p_run and s.step_slug = p_step and s.task_index = p_index and s.payload is not null
         and s.expires_at > clock_timestamp()
    ) k);
begin
  if v_kept >= pgflow._kept_at_most() then
    raise exception '% signals are kept for this hook already, and nobody has waited for them yet', v_kept
      using errcode = 'program_limit_exceeded',
            detail = jsonb_build_object('problem', 'too_many_signals', 'limit', pgflow._kept_at_most())::text;
  end if;
end;
$$;
