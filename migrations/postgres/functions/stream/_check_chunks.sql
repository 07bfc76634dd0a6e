-- Refuses more chunks, or more bytes, than are appended at once.
create or replace function pgflow._check_chunks(chunks bytea[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit bigint := (select l.max_payload_bytes from pgflow.limits l);
  v_bytes bigint := (select coalesce(sum(octet_length(c)), 0) from unnest(_check_chunks.chunks) c);
begin
  if _check_chunks.chunks is null or array_position(_check_chunks.chunks, null) is not null then
    raise exception 'A chunk is null' using errcode = 'null_value_not_allowed';
  end if;
  if cardinality(_check_chunks.chunks) > pgflow._chunks_at_once() then
    raise exception '% chunks at once are too many, the limit is %', cardinality(_check_chunks.chunks), pgflow._chunks_at_once()
      using errcode = 'program_limit_exceeded',
            detail = jsonb_build_object('problem', 'too_many', 'chunks', cardinality(_check_chunks.chunks));
  end if;
  if v_bytes > v_limit then
    raise exception 'Chunks too large: they have % bytes together, the limit is %', v_bytes, v_limit
      using errcode = 'program_limit_exceeded',
            detail = jsonb_build_object('problem', 'too_large', 'bytes', v_bytes, 'limit', v_limit);
  end if;
end;
$$;
