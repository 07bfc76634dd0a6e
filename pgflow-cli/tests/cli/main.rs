//! `pgflow`, on real databases.

mod arguments;
mod broken_jobs;
mod commands;
mod doctor;
mod interrupted;
mod jobs;
mod leaving;
mod manual;
mod meaning;
mod new;
mod options;
mod permits;
mod place;
mod queues;
mod read_only;
mod rights;
mod schedules;
mod serving;
mod shapes;
mod tail;
mod top;
mod trouble;
mod waits;
mod why;
