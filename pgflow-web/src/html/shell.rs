//! What every page has around it.

use axum::response::Html;
use maud::{DOCTYPE, Markup, html};

use super::visible;
use crate::assets::{ICON, SCRIPT, STYLE};
use crate::pages::PAGES;
use crate::request::Asked;

/// A whole page. `here` is the path of the page in the navigation that this one belongs to.
pub(crate) fn page(asked: &Asked, title: &str, here: &str, body: &Markup) -> Html<String> {
    let Asked { base, app, .. } = asked;
    let head = html! { (style(base)) script src=(SCRIPT.href(base)) defer {} };
    let body = html! {
        a.skip href="#main" { "Skip to content" }
        header.top {
            a.brand href=(PAGES[0].href(base)) { span.mark aria-hidden="true" {} "pgflow" }
            nav aria-label="Pages" {
                @for page in PAGES {
                    a href=(page.href(base)) aria-current=[(page.path == here).then_some("page")] { (page.title) }
                }
            }
            form.find action={ (base) "/runs" } role="search" {
                input type="search" name="q" placeholder="Run id or key, job" aria-label="Find a run by id or key, or a job by name" autocomplete="off" spellcheck="false";
            }
        }
        main #main { (body) }
        footer.bottom {
            span { (app.db) }
            span.lost role="status" { "connection lost, trying again" }
            @if asked.form.is_none() { span { "read-only" } }
        }
    };
    document(title, &head, &body)
}

/// A page that says one thing; without a way to others for those who may not see them.
pub(crate) fn bare(title: &str, base: Option<&str>, body: &Markup) -> Html<String> {
    let head = base.map(style).unwrap_or_default();
    let body = html! {
        main {
            (body)
            @if let Some(base) = base { p { a href=(PAGES[0].href(base)) { "To the overview" } } }
        }
    };
    document(title, &head, &body)
}

fn style(base: &str) -> Markup {
    html! {
        link rel="stylesheet" href=(STYLE.href(base));
        link rel="icon" type="image/svg+xml" href=(ICON.href(base));
    }
}

fn document(title: &str, head: &Markup, body: &Markup) -> Html<String> {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · pgflow" }
                (head)
            }
            body { (body) }
        }
    };
    Html(visible(document))
}
