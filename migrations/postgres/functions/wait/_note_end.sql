-- Notes that a child has ended, for wake_waits, if anybody waits for it. What waits is not locked: it is the parent's.
create or replace function pgflow._note_end(kind text, child text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  insert into pgflow.wait_ends (kind, child)
  select _note_end.kind, _note_end.child
   where exists (
     select from pgflow.awaited a
      where a.child = _note_end.child and a.kind = _note_end.kind and a.ended is null and a.abandoned is null)
  -- Also of a run that was retried and has ended again: whoever is about to tell of its first end does not take this one along unseen.
  on conflict (child, kind) do update set kind = excluded.kind;
  if found then
    perform pgflow._ask_to_wake();
  end if;
end;
$$;
