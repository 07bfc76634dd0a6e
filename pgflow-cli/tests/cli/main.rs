//! `pgflow`, on real databases.

mod commands;
mod doctor;
mod jobs;
mod manual;
mod new;
mod place;
mod serving;
mod shapes;
mod top;
mod trouble;
mod why;
