-- What a claim of batches finds messages of one key by: a copy of where their jobs stand, taken when the key is kept. The jobs decide.
alter table pgflow.job_messages
  add column need text collate "C",
  add column priority int,
  add column seq bigint;

update pgflow.job_messages m set need = j.need, priority = j.priority, seq = j.seq
  from pgflow.jobs j where j.id = m.job and m.batch_key is not null;

create index job_messages_batch on pgflow.job_messages (need, batch_key, priority desc, seq) where batch_key is not null;
