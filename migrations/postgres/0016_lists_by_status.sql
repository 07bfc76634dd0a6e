-- Lists of runs by a status that few have. A run that is completed changes neither column, so its updates stay
-- on their page as before; only runs that fail or are cancelled get one more entry.
create index runs_failed on pgflow.runs (flow_slug, started_at desc, run_id desc) where failed_at is not null;
create index runs_cancelled on pgflow.runs (flow_slug, started_at desc, run_id desc) where cancelled_at is not null;
