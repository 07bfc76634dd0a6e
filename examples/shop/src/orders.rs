//! Orders, from the basket to the letter.

use pgflow::prelude::*;

/// What a customer wants.
#[data]
pub struct Order {
    /// Who gets the letter.
    pub customer: String,
    /// What is bought.
    pub basket: Vec<Article>,
}

/// Something to buy.
#[data]
#[derive(Clone)]
pub struct Article {
    /// What it is called.
    pub name: String,
    /// Its price, in cents.
    pub cents: u32,
}

/// What a customer pays.
#[data]
#[derive(Debug, PartialEq)]
pub struct Invoice {
    /// Who pays.
    pub customer: String,
    /// How much, in cents.
    pub cents: u32,
}

/// From the basket to the letter.
#[flow(input = Order, max_attempts = 5)]
pub mod order {
    use pgflow::prelude::*;

    use super::{Article, Invoice, Order};

    /// Looks whether there is anything to do.
    #[step]
    pub async fn basket(run: Order) -> Result<Vec<Article>> {
        if run.basket.is_empty() {
            return Err(Error::fatal("the basket is empty"));
        }
        Ok(run.basket)
    }

    /// Adds the tax.
    #[step(map, depends_on = [basket])]
    pub async fn price(item: Article) -> Result<u32> {
        Ok(item.cents + item.cents / 5)
    }

    /// Adds everything up.
    #[step(depends_on = [price], timeout = "30s", was = "bill")]
    pub async fn invoice(run: Order, price: Vec<u32>) -> Result<Invoice> {
        Ok(Invoice { customer: run.customer, cents: price.iter().sum() })
    }

    /// Writes to customers who bought for more than nothing.
    #[step(depends_on = [invoice], unless = { "invoice": { "cents": 0 } })]
    pub async fn letter(invoice: Invoice) -> Result<String> {
        Ok(format!("Dear {}, please pay {} cents.", invoice.customer, invoice.cents))
    }
}
