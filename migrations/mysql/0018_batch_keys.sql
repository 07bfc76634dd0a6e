-- What a claim of batches finds messages of one key by: a copy of where their jobs stand, taken when the key is kept. The jobs decide.
alter table pgflow_messages
  add column need varbinary(128),
  add column urgency bigint,
  add column seq bigint;

update pgflow_messages m join pgflow_jobs j on j.id = m.job
   set m.need = j.need, m.urgency = j.urgency, m.seq = j.seq
 where m.batch_key is not null;
-- Of dead ones, which may be opened again.
update pgflow_messages m join pgflow_job_archive a on a.id = m.job
   set m.need = a.need, m.urgency = a.urgency, m.seq = a.seq
 where m.batch_key is not null and m.need is null;

create index pgflow_messages_batch on pgflow_messages (need, batch_key, urgency, seq);
