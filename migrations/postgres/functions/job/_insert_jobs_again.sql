-- As _insert_jobs, as often as somebody else inserts one of these jobs at the same moment: it waits for them, and leaves out what
-- they had. A transaction that is stricter than read committed would never see them.
create or replace function pgflow._insert_jobs_again(
  p_now timestamptz,
  p_ids text[],
  p_needs text[],
  p_payloads jsonb[],
  p_priorities int[],
  p_keys text[],
  p_wake_ats timestamptz[],
  p_expires_ats timestamptz[],
  p_max_attempts int[],
  p_traced boolean,
  p_worker text,
  p_details jsonb[]
) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  loop
    begin
      return pgflow._insert_jobs(
        p_now, p_ids, p_needs, p_payloads, p_priorities, p_keys, p_wake_ats, p_expires_ats, p_max_attempts, p_traced, p_worker, p_details);
    exception when unique_violation then
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'Somebody else submitted one of these jobs at the same time' using errcode = 'serialization_failure';
      end if;
    end;
  end loop;
end;
$$;
