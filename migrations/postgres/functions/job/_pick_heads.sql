-- Decides for keys whose rows the caller has locked which of their jobs are ready: while one is leased none, otherwise the
-- best of each need, by priority and place in line. Waits for nobody: if somebody holds a job in question, the key is
-- marked, and the next claim or sweep looks again.
create or replace function pgflow._pick_heads(p_keys text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key record;
  v_line record;
  v_look boolean;
begin
  if exists (select from pgflow.job_key_notes n where n.key = any (p_keys)) then
    perform pgflow._count_notes(p_keys);
  end if;
  delete from pgflow.job_keys k where k.key = any (p_keys) and k.jobs <= 0;
  for v_key in
    select k.key, (
             -- By its id, not among all that are leased.
             select h.id from (select h.* from pgflow.jobs h where h.id = k.holder offset 0) h where h.key = k.key and h.state = 'leased'
           ) as holder
      from pgflow.job_keys k
     where k.key = any (p_keys)
  loop
    if v_key.holder is not null then
      v_look := pgflow._park_heads(v_key.key);
    else
      v_look := false;
      for v_line in select l.need from pgflow._lines_of_key(v_key.key) l(need) loop
        v_look := pgflow._pick_head(v_key.key, v_line.need) or v_look;
      end loop;
    end if;
    update pgflow.job_keys k set holder = v_key.holder, look = v_look
     where k.key = v_key.key and (k.holder is distinct from v_key.holder or k.look <> v_look);
  end loop;
end;
$$;
