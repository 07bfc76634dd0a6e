//! What cannot be of streams.

/// Each finds what its name says, as sentences.
pub(crate) const INVARIANTS: &[&str] = &[
    "select 'stream ' || s.name || ' has ' || count(c.number) || ' chunks, but its next number is ' || s.next_number
       from pgflow_streams s left join pgflow_stream_chunks c on c.stream = s.id
      group by s.id having count(c.number) <> s.next_number or coalesce(max(c.number) + 1, 0) <> s.next_number",
    "select 'stream ' || s.name || ' has ' || coalesce(sum(length(c.data)), 0) || ' bytes, but says ' || s.bytes
       from pgflow_streams s left join pgflow_stream_chunks c on c.stream = s.id
      group by s.id having coalesce(sum(length(c.data)), 0) <> s.bytes",
    "select 'stream ' || s.name || ' has chunk ' || c.number || ' of generation ' || c.generation || ', which is not its place'
       from pgflow_streams s join pgflow_stream_chunks c on c.stream = s.id
      where (c.number >= s.begins_at) <> (c.generation = s.generation)",
    "select 'stream ' || s.name || ': its writers have sent ' || coalesce(sum(w.next_seq), 0) || ' of ' || s.next_number || ' chunks'
       from pgflow_streams s left join pgflow_stream_writers w on w.stream = s.id
      group by s.id having coalesce(sum(w.next_seq), 0) <> s.next_number",
    "select 'stream ' || name || ' is of a run that is not there' from pgflow_streams
      where run_id <> zeroblob(16) and run_id not in (select run_id from pgflow_runs)",
    "select 'chunk ' || number || ' is of no stream' from pgflow_stream_chunks
      where stream not in (select id from pgflow_streams)",
];
