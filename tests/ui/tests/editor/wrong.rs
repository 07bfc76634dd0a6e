use pgflow::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Signup {
    pub id: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct User {
    pub name: String,
}

#[flow(input = Signup)]
pub mod analyze {
    use super::*;

    #[step(timeout = 0)]
    pub async fn fetch_user(run: Signup) -> Result<User> {
        Ok(User { name: run.id.to_string() })
    }

    #[step(depends_on = [fetch_user, scoer])]
    pub async fn list(fetch_user: User) -> Result<String> {
        let name = fetch_user.name;
        Ok(name)
    }

    #[step(depends_on = [ring_b])]
    pub async fn ring_a() -> Result<u32> {
        Ok(1)
    }

    #[step(depends_on = [ring_a])]
    pub async fn ring_b() -> Result<u32> {
        Ok(1)
    }
}
