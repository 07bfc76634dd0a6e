//! Pages fit a phone, and a dark room.

use std::time::Duration;

use pgflow_web::Options;
use pgflow_web_tests::{Order, Outcome, Tools, drive, orders};
use serde_json::json;

use crate::jobs::{failed, settle, take};
use crate::place::Place;

#[test]
fn nothing_is_wider_than_a_phone_and_pictures_are_kept() -> Outcome {
    drive(async |browser| {
        let place = Place::new(&Tools::default(), Options::new().actions(true)).await?;
        for lines in 3..15 {
            place.ended(&Order::of(lines)).await?;
        }
        place.ended(&Order::of(1).with("broken jug")).await?;
        let failed = place.ended(&Order::of(5).with("broken cup")).await?;
        jobs(&place).await?;
        let run = format!("/runs/{}", failed.id());
        let step = format!("{run}?step=pack");
        for (name, path) in [
            ("overview", "/"),
            ("runs", "/runs"),
            ("run", &*run),
            ("step", &*step),
            ("flows", "/flows"),
            ("flow", "/flows/orders"),
            ("jobs", "/jobs"),
            ("job", "/job?id=invoice-7"),
            ("queues", "/queues"),
            ("dead", "/dead"),
            ("waits", "/waits"),
            ("schedules", "/schedules"),
            ("workers", "/workers"),
        ] {
            for (width, height, scheme) in
                [(1280, 900, "light"), (1280, 900, "dark"), (360, 740, "light")]
            {
                browser.window(width, height).await?;
                browser.scheme(scheme).await?;
                browser.goto(&place.dashboard.url(path)).await?;
                let wide = browser.evaluate("document.documentElement.scrollWidth").await?;
                assert!(wide.as_u64() <= Some(width.into()), "{name} is {wide} wide on {width}");
                let size = if width < 600 { "phone" } else { scheme };
                browser.picture(&format!("{name}-{size}")).await?;
            }
        }
        place.close().await
    })
}

/// Some of each kind; one waits for another, one sleeps, some are dead; a queue is paused, and a schedule there.
async fn jobs(place: &Place) -> Outcome {
    for number in 1..=12 {
        let payload = json!({ "pages": number, "customer": "Ann" });
        let submit = place.db().submit_raw("invoice.ingest", payload);
        submit.id(format!("invoice-{number}")).key("ann").await?;
    }
    let merge = place.db().submit_raw("invoice.merge", json!({ "of": "invoice-7" }));
    merge.id("merge-7").after([&place.db().job(&"invoice-7".parse()?)]).await?;
    place
        .db()
        .submit_raw("mail.send", json!("hello"))
        .id("mail-1")
        .delay(Duration::from_hours(1))
        .await?;
    place.db().job(&"invoice-12".parse()?).cancel("sent twice").await?;
    for number in 1..=3 {
        place.db().submit_raw("page.scan", json!(number)).id(format!("page-{number}")).await?;
        settle(place, take(place, "page.scan").await?, failed("the scanner is out of reach"))
            .await?;
    }
    place.db().queue("mail.send").pause().await?;
    let nightly = place.db().schedule("nightly");
    nightly
        .flow(orders::Flow, &Order::of(2))
        .cron("0 3 * * MON-FRI")
        .timezone("Europe/Berlin")
        .await?;
    Ok(())
}

/// By the formula of WCAG 2, on what is behind each text.
const CONTRAST: &str = r"(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => part / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      if (at.matches?.('a.node')) return rgba(getComputedStyle(at.querySelector('.box')).fill);
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll('body *')) {
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const style = getComputedStyle(element);
    if (!text || style.display === 'none' || element.tagName === 'title' || !element.getClientRects().length) continue;
    const ink = rgba(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink.slice(0, 3)), light(behind(element).slice(0, 3))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${element.tagName}.${element.getAttribute('class')}: ${ratio.toFixed(2)}`);
  }
  return poor;
})()";

#[test]
fn every_text_stands_out_from_what_is_behind_it() -> Outcome {
    drive(async |browser| {
        let place = Place::new(&Tools::default(), Options::new().actions(true)).await?;
        let failed = place.ended(&Order::of(2).with("broken cup")).await?;
        jobs(&place).await?;
        let run = format!("/runs/{}?step=pack", failed.id());
        for scheme in ["light", "dark"] {
            browser.scheme(scheme).await?;
            for path in [
                "/",
                "/runs",
                &run,
                "/jobs",
                "/job?id=invoice-7",
                "/queues",
                "/dead",
                "/waits",
                "/schedules",
                "/flows",
                "/flows/orders",
                "/workers",
                "/nowhere",
            ] {
                browser.goto(&place.dashboard.url(path)).await?;
                let poor = browser.evaluate(CONTRAST).await?;
                assert_eq!(poor.as_array().map(Vec::len), Some(0), "{path} in {scheme}: {poor}");
            }
        }
        place.close().await
    })
}
