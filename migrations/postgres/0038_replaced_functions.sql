-- Functions that get other results or parameters than they had.

-- It says which job is the first in line.
drop function if exists pgflow.count_jobs(bigint);

-- With a default for a new one, the older form would be meant as well by who calls it with two.
drop function if exists pgflow._line_up(text[], int[]);

-- It says whether there is more than it hands out at once.
drop function if exists pgflow.claim_messages(text, text, double precision, int);
