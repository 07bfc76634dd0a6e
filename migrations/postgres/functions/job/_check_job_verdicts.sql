-- Refuses words that are no verdicts.
create or replace function pgflow._check_job_verdicts(p_verdicts text[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong text;
begin
  select coalesce(v, 'null') into v_wrong
    from unnest(p_verdicts) v
   where v is null or v not in ('finished', 'failed', 'fatal', 'handed_over', 'released') limit 1;
  if found then
    raise exception '% is no verdict', left(v_wrong, 100)
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_verdict', 'verdict', left(v_wrong, 100));
  end if;
end;
$$;
