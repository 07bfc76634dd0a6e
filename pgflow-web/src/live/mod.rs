//! Live updates: whoever looks at the same thing shares one reader of the database.
//!
//! | file | concern |
//! |---|---|
//! | `topic` | what can be looked at, and how it is read |
//! | `hub` | one reader for each topic, as long as somebody listens |
//! | `frame` | what they are sent |
//! | `stream` | sending it, as server-sent events |

mod frame;
mod hub;
mod stream;
mod topic;

pub(crate) use frame::Frame;
pub(crate) use hub::Hub;
pub(crate) use stream::routes;
