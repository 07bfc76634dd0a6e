//! What users write, through the facade alone.

mod analyze_website;
mod registration;
mod skips_and_conditions;
