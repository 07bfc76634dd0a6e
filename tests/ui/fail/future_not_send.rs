use pgflow::prelude::*;

#[flow]
mod billing {
    use super::*;
    use std::rc::Rc;

    #[step]
    async fn fetch_user() -> Result<u32> {
        let id = Rc::new(1);
        std::future::ready(()).await;
        Ok(*id)
    }
}

fn main() {}
