-- Refuses words and moments that no schedule has, before a constraint does, which would show the whole row.
create or replace function pgflow._check_schedule_words(name text, missed text, overlap text, moments timestamptz[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_wrong text := case
    when name is null or octet_length(name) not between 1 and 128 then
      'The name of a schedule has 1 to 128 bytes'
    when missed is null or missed !~ '^(skip|last|all\(([1-9][0-9]{0,2}|1000)\))$' then
      format('`%s` is no word for missed moments: it may be `skip`, `last` or `all(1)` to `all(1000)`', missed)
    when overlap is null or overlap not in ('allow', 'skip', 'queue') then
      format('`%s` is no word for moments that come while a run goes on: it may be `allow`, `skip` or `queue`', overlap)
    when exists (select from unnest(moments) m where not isfinite(m) or m > timestamptz '9999-12-31 UTC') then
      'A schedule cannot begin at a moment that no clock will show'
  end;
begin
  if v_wrong is not null then
    raise exception '%', v_wrong using errcode = 'invalid_parameter_value';
  end if;
end;
$$;
