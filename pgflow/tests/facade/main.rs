//! What users write, through the facade alone.

mod registration;
mod skips_and_conditions;
mod website;
