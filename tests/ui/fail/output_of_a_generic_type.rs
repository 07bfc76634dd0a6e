use pgflow::prelude::*;

struct Opaque;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Wrapped<T> {
    inner: T,
}

#[flow]
mod billing {
    use super::*;

    #[step]
    async fn one() -> Result<Wrapped<Opaque>> {
        Ok(Wrapped { inner: Opaque })
    }

    #[step(map, depends_on = [many])]
    async fn each(item: Wrapped<u32>) -> Result<Vec<Opaque>> {
        let _ = item.inner;
        Ok(vec![Opaque])
    }

    #[step]
    async fn many() -> Result<Vec<Wrapped<u32>>> {
        Ok(vec![Wrapped { inner: 1 }])
    }
}

fn main() {}
