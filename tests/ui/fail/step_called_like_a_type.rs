use pgflow::prelude::*;

#[flow(input = u8)]
mod billing {
    use super::*;

    #[step]
    async fn str() -> Result<bool> {
        Ok("text".is_empty())
    }

    #[step(slug = "count")]
    async fn u8(run: u8) -> Result<u8> {
        Ok(run)
    }

    #[step(depends_on = [str, u8], only_if = { "count": 1 })]
    async fn bill(str: bool, u8: u8) -> Result<u8> {
        Ok(if str { u8 } else { 0 })
    }
}

fn main() {
    let _ = billing::Flow::SLUG;
}
