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

    #[step]
    pub async fn fetch_user(run: Signup) -> Result<User> {
        Ok(User { name: run.id.to_string() })
    }

    #[step(depends_on = [fetch_user as user])]
    pub async fn list(user: User) -> Result<Vec<String>> {
        Ok(vec![user.name])
    }

    #[step(depends_on = [list, fetch_user])]
    pub async fn report(fetch_user: User, list: Vec<String>) -> Result<usize> {
        Ok(list.len() + fetch_user.name.len())
    }

    #[step(depends_on = [fetch_user])]
    pub async fn notify() -> Result<()> {
        Ok(())
    }
}

pub fn by_type(run: &pgflow::definition::RunOutputs<analyze::Flow>) -> Option<User> {
    run.step::<analyze::fetch_user>().ok().flatten()
}

pub async fn by_hand() -> Result<User> {
    analyze::fetch_user(Signup { id: 1 }).await
}
