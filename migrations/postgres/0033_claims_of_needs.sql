-- A claim looks at, and locks, jobs of its own needs only: what it looks for is found by need.

drop index pgflow.jobs_sleeping;
create index jobs_sleeping on pgflow.jobs (need, wake_at) where state = 'sleeping';
drop index pgflow.jobs_leased;
create index jobs_leased on pgflow.jobs (need, look_at) where state = 'leased';
-- What stands in a claim's way, and what only the sweep ends.
drop index pgflow.jobs_expiring;
create index jobs_ready_expiring on pgflow.jobs (need, expires_at) where expires_at is not null and state = 'ready';
create index jobs_expiring on pgflow.jobs (expires_at)
  where expires_at is not null and state in ('sleeping', 'waiting', 'parked', 'concern');

-- Jobs that came to the line of a key, or left it, while somebody else had the key's row: nobody waits for that row. Whoever has it next,
-- or the next claim or sweep, counts them and looks at the line. Without a unique index, so that nobody waits for these rows either.
create table pgflow.job_key_notes (
  key text collate "C" not null,
  -- How many more or fewer jobs the key has.
  jobs int not null
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index job_key_notes_by_key on pgflow.job_key_notes (key);

-- Functions that get other parameters than they had.
drop function if exists pgflow._tidy_line(timestamptz, text[], text, jsonb);
drop function if exists pgflow._return_lapsed(timestamptz, int, text, jsonb, text[]);
drop function if exists pgflow._wake_sleepers(timestamptz, int);
drop function if exists pgflow._mark_expired(timestamptz, int);
drop function if exists pgflow._look_again(int);
