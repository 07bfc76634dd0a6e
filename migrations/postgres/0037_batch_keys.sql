-- What a claim of batches finds messages of one key by: a copy of where their jobs stand, taken when the key is kept. The jobs decide.
alter table pgflow.job_messages
  add column need text collate "C",
  add column priority int,
  add column seq bigint;

update pgflow.job_messages m set need = j.need, priority = j.priority, seq = j.seq
  from pgflow.jobs j where j.id = m.job and m.batch_key is not null;
-- Of dead ones, which may be opened again.
update pgflow.job_messages m set need = a.need, priority = a.priority, seq = a.seq
  from pgflow.job_archive a where a.id = m.job and m.batch_key is not null and m.need is null;

create index job_messages_batch on pgflow.job_messages (need, batch_key, priority desc, seq) where batch_key is not null;

-- For who counts what waits at one queue. An expression, so that nobody who looks for a key is planned on it.
create index jobs_parked_at on pgflow.jobs ((need || '')) where state = 'parked';
