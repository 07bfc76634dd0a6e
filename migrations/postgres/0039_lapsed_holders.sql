-- Who has a key and whose lease has run out, whatever it needs: jobs of other needs may be in line behind it.
create index jobs_holding on pgflow.jobs (look_at) where state = 'leased' and key is not null;

-- Functions that get other parameters than they had.

-- With a default for a new one, the older form would be meant as well by who calls it with two.
drop function if exists pgflow._wake_again(int, text);
