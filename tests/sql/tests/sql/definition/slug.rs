//! `is_valid_slug`.

use crate::harness::{Db, lit};

async fn is_valid(db: &Db, slug: &str) -> String {
    db.one(&format!("select pgflow.is_valid_slug({})", lit(slug))).await
}

#[tokio::test]
async fn letters_digits_and_underscores_make_a_slug() {
    let db = Db::new().await;
    let longest = "a".repeat(128);
    for slug in ["a", "A", "_", "_1", "camelCase9", "snake_case", "Run", "running", &longest] {
        assert_eq!(is_valid(&db, slug).await, "t", "{slug}");
    }
}

#[tokio::test]
async fn everything_else_is_no_slug() {
    let db = Db::new().await;
    let long = "a".repeat(129);
    let wrong = [
        "", " ", "1a", "a-b", "a b", "a.b", "a/b", "é", "a\n", "\na", "run", "a'", "a\"", "a;",
        "🦀", &long,
    ];
    for slug in wrong {
        assert_eq!(is_valid(&db, slug).await, "f", "{slug:?}");
    }
    assert_eq!(db.one("select pgflow.is_valid_slug(null)").await, "f");
}
