//! What a task says while it runs: the last of it.

use maud::{Markup, html};
use pgflow_machine::log::StreamKey;
use pgflow_runtime::backend::{PageSize, StreamPage};
use serde_json::Value;

use super::run::first_line;
use crate::app::App;
use crate::error::PageError;

/// Chunks that are shown.
const SHOWN: u32 = 20;

/// Nothing, if nothing was said. `shown` makes of a chunk what people may see.
pub(super) async fn said(
    app: &App,
    stream: &StreamKey,
    shown: impl Fn(Value) -> Value,
) -> Result<Markup, PageError> {
    let Ok(streams) = app.db.backend().streams() else { return Ok(html! {}) };
    let stands = streams.read_stream(stream, 0, PageSize::NOTHING).await?;
    let Some(StreamPage { next, begins_at, .. }) = stands.filter(|page| page.next > 0) else {
        return Ok(html! {});
    };
    let from = next.saturating_sub(u64::from(SHOWN)).max(begins_at);
    let size = PageSize { chunks: SHOWN, ..PageSize::default() };
    let Some(page) = streams.read_stream(stream, from, size).await? else { return Ok(html! {}) };
    let text = |data: Vec<u8>| {
        let value = serde_json::from_slice(&data);
        let value = value.unwrap_or_else(|_| String::from_utf8_lossy(&data).into_owned().into());
        first_line(&shown(value).to_string())
    };
    // Why it ended may be somebody's text.
    let end = page.end.map(|end| match end.why() {
        Some(why) => first_line(&shown(why.into()).to_string()),
        None => end.to_string(),
    });
    let generation = page.generation;
    Ok(html! {
        section.payload {
            h3 { "Says" }
            p { (next - begins_at) " chunks" @if generation > 1 { " in attempt " (generation) } @if let Some(end) = end { ", " (end) } }
            pre tabindex="0" { code { @for chunk in page.chunks { (chunk.number) "  " (text(chunk.data)) "\n" } } }
        }
    })
}
