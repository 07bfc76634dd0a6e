-- Makes the best parked job of a key and need ready, unless a better one is; the caller has locked the key's row, and
-- nobody has the key. Those whose time is over make way. Returns whether somebody held a job in question.
create or replace function pgflow._pick_head(p_key text, p_need text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_head record;
  v_best record;
  v_next record;
begin
  select h.id, h.priority, h.seq into v_head
    from pgflow.jobs h where h.key = p_key and h.need = p_need and h.state = 'ready' and h.key is not null limit 1;
  loop
    select p.id, p.priority, p.seq into v_best
      from pgflow.jobs p where p.key = p_key and p.need = p_need and p.state = 'parked' order by p.priority desc, p.seq limit 1;
    -- What does not become ready is not locked.
    if v_best.id is null or (v_head.priority, -v_head.seq) > (v_best.priority, -v_best.seq) then
      return false;
    end if;
    select p.id, p.priority, p.seq, coalesce(p.expires_at <= clock_timestamp(), false) as is_over into v_next
      from pgflow.jobs p where p.key = p_key and p.need = p_need and p.state = 'parked'
     order by p.priority desc, p.seq limit 1 for no key update skip locked;
    if v_next.id is null or (v_head.priority, -v_head.seq) > (v_next.priority, -v_next.seq) then
      return true;
    end if;
    exit when not v_next.is_over;
    update pgflow.jobs j set state = 'expired' where j.id = v_next.id;
  end loop;
  if v_head.id is not null then
    update pgflow.jobs j set state = 'parked'
     where j.ctid = (
       select h.ctid from pgflow.jobs h where h.id = v_head.id and h.state = 'ready' for no key update skip locked);
    -- A claim may be about to take it.
    if not found then
      return true;
    end if;
  end if;
  -- Since when it can be had, unless it is new: batches wait for their oldest message from then on. What comes back with one call came at
  -- one moment.
  update pgflow.jobs j
     set state = 'ready', wake_at = case when j.created_at < transaction_timestamp() then statement_timestamp() else j.wake_at end
   where j.id = v_next.id;
  perform pgflow._announce_jobs(array[v_next.id], array[p_need]);
  return false;
end;
$$;
