-- What submitting a job writes: less.

-- An entry of the trace without a word is that of a submission, which most jobs have before any other.
alter table pgflow.job_trace alter column kind drop not null;
create or replace view pgflow.job_events as
select t.trace_id, coalesce(t.at, j.created_at, a.created_at) as at, t.token, coalesce(t.kind, 'submitted') as kind, coalesce(t.job, j.id, a.id) as job,
       t.need, t.worker, t.detail
from pgflow.job_trace t
left join pgflow.jobs j on t.job is null and j.seq = t.trace_id
left join pgflow.job_archive a on t.job is null and a.seq = t.trace_id;

-- New jobs come to the right edge of both: a page that is full there is left full, and little moves to the next one.
alter index pgflow.jobs_pkey set (fillfactor = 100);
alter index pgflow.jobs_ready set (fillfactor = 100);

-- Once a vacuum has looked at a range that is still being filled, every row that comes to it moves the range's end: shorter ranges end sooner.
drop index pgflow.jobs_by_place;
create index jobs_by_place on pgflow.jobs using brin (seq) with (pages_per_range = 2);
drop index pgflow.job_trace_by_number;
create index job_trace_by_number on pgflow.job_trace using brin (trace_id) with (pages_per_range = 2);
