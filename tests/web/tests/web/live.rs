//! Pages move while people look at them.

use std::net::SocketAddr;
use std::time::Duration;

use pgflow_web::Options;
use pgflow_web_tests::{Browser, Dashboard, Order, Outcome, Tools, drive};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::place::Place;

const PACK: &str = ".node[data-step=pack]";

#[test]
fn a_map_fills_its_ring_and_the_run_ends_before_our_eyes() -> Outcome {
    drive(async |browser| {
        let tools = Tools::without_boxes();
        let place = Place::new(&tools, Options::new()).await?;
        let run = place.start(&Order::of(8)).await?;
        browser.goto(&place.url(&run)).await?;
        browser.evaluate("window.same = true").await?;
        packed(browser, 0).await?;
        browser
            .until(
                "document.querySelector('.node[data-step=pack]').classList.contains('is-running')",
            )
            .await?;
        for done in [1, 4] {
            tools.boxes.add_permits(if done == 1 { 1 } else { 3 });
            packed(browser, done).await?;
            let ring = browser.attribute(&format!("{PACK} .done"), "stroke-dasharray").await?;
            assert_eq!(ring, Some(format!("{} 100", done * 100 / 8)));
        }
        browser.picture("run-live").await?;
        // What is open beside the graph moves with it.
        browser.click(PACK).await?;
        browser.until("document.querySelector('#detail h2')?.textContent.includes('pack')").await?;
        tools.boxes.add_permits(100);
        browser
            .until("document.querySelector('[data-status]').dataset.status === 'completed'")
            .await?;
        browser
            .until("document.querySelector('#detail').textContent.includes('box with vase no. 8')")
            .await?;
        browser.until("document.querySelectorAll('.node.is-completed').length === 6").await?;
        assert_eq!(browser.evaluate("window.same").await?, true, "the page was not loaded again");
        place.close().await
    })
}

async fn packed(browser: &Browser, done: usize) -> Outcome {
    packed_of(browser, &format!("{done} of 8")).await
}

#[test]
fn the_overview_counts_what_starts() -> Outcome {
    drive(async |browser| {
        let place = Place::new(&Tools::default(), Options::new()).await?;
        browser.goto(&place.dashboard.url("/")).await?;
        assert_eq!(browser.text(".card:nth-child(1) .figure").await?, "0");
        place.ended(&Order::of(1)).await?;
        browser.until("document.querySelector('.card .figure').textContent === '1'").await?;
        place.close().await
    })
}

#[test]
fn a_lost_connection_is_said_and_mended() -> Outcome {
    drive(async |browser| {
        let tools = Tools::without_boxes();
        let place = Place::new(&tools, Options::new()).await?;
        let run = place.start(&Order::of(1)).await?;
        browser.goto(&place.url(&run)).await?;
        browser.until("!document.body.classList.contains('is-lost')").await?;
        let (address, db) = (place.dashboard.address(), place.fresh.db.clone());
        place.dashboard.stop().await?;
        let lost = "getComputedStyle(document.querySelector('.lost')).display";
        browser.until(&format!("{lost} !== 'none'")).await?;
        // What stands there meanwhile says no, after which a browser does not ask again by itself.
        refuse_one(address).await?;
        let dashboard = Dashboard::start_at(address, &db, Options::new()).await?;
        browser.until(&format!("{lost} === 'none'")).await?;
        tools.boxes.add_permits(1);
        browser
            .until("document.querySelector('[data-status]').dataset.status === 'completed'")
            .await?;
        dashboard.stop().await
    })
}

#[test]
fn pages_that_nobody_sees_keep_no_other_from_loading() -> Outcome {
    drive(async |browser| {
        let tools = Tools::without_boxes();
        let place = Place::new(&tools, Options::new()).await?;
        let run = place.start(&Order::of(1)).await?;
        browser.goto(&place.url(&run)).await?;
        let others = async {
            // A browser has six connections for a server.
            for _ in 0..7 {
                browser.new_tab().await?;
                browser.goto(&place.url(&run)).await?;
                packed_of(browser, "0 of 1").await?;
            }
            Outcome::Ok(())
        };
        tokio::time::timeout(Duration::from_mins(1), others).await??;
        tools.boxes.add_permits(1);
        let completed = "document.querySelector('[data-status]').dataset.status === 'completed'";
        browser.until(completed).await?;
        // What nobody saw is up to date as soon as somebody sees it.
        browser.first_tab().await?;
        browser.until(completed).await?;
        place.close().await
    })
}

async fn packed_of(browser: &Browser, note: &str) -> Outcome {
    let text = format!("document.querySelector('{PACK} .note')?.textContent === '{note}'");
    browser.until(&text).await
}

/// Answers one request as a proxy does that cannot reach what is behind it.
async fn refuse_one(address: SocketAddr) -> Outcome {
    let listener = TcpListener::bind(address).await?;
    let (mut stream, _) = listener.accept().await?;
    let mut request = [0; 1024];
    _ = stream.read(&mut request).await?;
    let answer =
        "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    stream.write_all(answer.as_bytes()).await?;
    Ok(stream.shutdown().await?)
}
