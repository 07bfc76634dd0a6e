-- Decides who is the head of keys whose last decision met a locked job. Waits for nobody.
create or replace function pgflow._look_again(p_limit int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pgflow._pick_heads(array(
    select k.key from pgflow.job_keys k where k.look order by k.key limit p_limit for update skip locked));
end;
$$;
