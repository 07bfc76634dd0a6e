//! What goes in and out of the steps.

use pgflow::prelude::*;

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Site {
    pub url: String,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    pub text: String,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Sentiment {
    pub score: i32,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct LinkStatus {
    pub url: String,
    pub broken: bool,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    pub title: String,
    pub broken: usize,
}
