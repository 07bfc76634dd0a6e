-- Functions that get other results than they had.

-- It says which job is the first in line.
drop function if exists pgflow.count_jobs(bigint);
