-- The published tables number their traces with this. Here numbers come from pgflow.jobs_seq; scripts that look at it, or restart it, run.
create sequence pgwf.jobs_trace_id_seq;
