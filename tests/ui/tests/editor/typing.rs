use pgflow::prelude::*;

#[flow(input = u32, max_att)]
pub mod analyze {
    use super::*;

    #[step(timeout = 30)]
    pub async fn fetch_user(run: u32) -> Result<u32> {
        Ok(run)
    }

    #[step(depends_on = [fetch])]
    pub async fn list() -> Result<u32> {
        Ok(1)
    }

    #[step(depends_on = [])]
    pub async fn nothing() -> Result<u32> {
        Ok(2)
    }

    #[step(when_)]
    pub async fn options() -> Result<u32> {
        Ok(3)
    }

    #[step()]
    pub async fn all_options() -> Result<u32> {
        Ok(4)
    }

    #[step(depends_on = [fetch_user])]
    pub async fn signature(fetch_user: u) -> Result<u32> {
        Ok(5)
    }
}
