//! Payloads that nobody may see are nowhere on any page.

use pgflow_web::{Options, PayloadKind};
use pgflow_web_tests::{Order, Outcome, Tools};
use pgflow_worker_tests::Fresh;
use tokio::io::AsyncReadExt;

use crate::place::{Place, path};

const SECRET: &str = "4111-1111";

async fn pages(place: &Place, run: &str) -> Outcome<String> {
    let mut all = String::new();
    for rest in [
        "",
        "?step=check",
        "?step=lines",
        "?step=pack",
        "?step=pack&only=failed",
        "?step=pack&task=0",
        "?step=pack&task=1",
        "?step=invoice",
    ] {
        let answer = place.dashboard.get(&format!("{run}{rest}"), &[]).await?;
        assert_eq!(answer.status, 200, "{rest}");
        all.push_str(&answer.body);
    }
    let mut stream = place.dashboard.send(&format!("GET /live{run}"), &[], "").await?;
    let mut bytes = Vec::new();
    while !String::from_utf8_lossy(&bytes).contains("</svg>") {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).await?;
        assert!(read > 0, "the stream ended");
        bytes.extend_from_slice(&part[..read]);
    }
    all.push_str(&String::from_utf8_lossy(&bytes));
    Ok(all)
}

async fn order(place: &Place) -> Outcome<String> {
    let order = Order { customer: SECRET.into(), ..Order::of(0) };
    let run = place.ended(&order.with(SECRET).with(format!("broken {SECRET}"))).await?;
    Ok(path(&run))
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_payloads_are_nowhere() -> Outcome {
    let options = Options::new().hide_payloads();
    let place = Place::on(Fresh::sqlite().await?, &Tools::default(), options).await?;
    let run = order(&place).await?;
    let all = pages(&place, &run).await?;
    assert!(!all.contains(SECRET) && !all.contains("two pieces"), "{all}");
    assert!(all.contains("hidden"));
    place.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn masked_payloads_show_the_rest() -> Outcome {
    let options = Options::new().redact(|payload| {
        let text = payload.value.to_string().replace(SECRET, "****");
        if let Ok(masked) = text.parse() {
            payload.value = masked;
        }
        assert!(
            payload.step.is_some() || payload.kind != PayloadKind::Output,
            "outputs are of steps"
        );
        assert_eq!(payload.flow, "orders");
    });
    let place = Place::on(Fresh::sqlite().await?, &Tools::default(), options).await?;
    let run = order(&place).await?;
    let all = pages(&place, &run).await?;
    assert!(!all.contains(SECRET), "{all}");
    assert!(all.contains("broken ****") && all.contains("two pieces") && all.contains("is_gift"));
    place.close().await
}
