//! What a worker serves: flows and needs, in one list of names.
//!
//! A need stands in it as `need:…`, which no flow can be called. Databases join the list by commas, so those of a need are
//! written as `%2C`.

use std::borrow::Cow;

use pgflow_machine::Source;

use super::{WorkerCard, WorkerRecord};

const NEED: &str = "need:";

impl WorkerCard {
    /// The list of a worker with these sources.
    ///
    /// ```
    /// use pgflow_backend::backend::{Source, WorkerCard};
    ///
    /// let sources = [Source::queue("order"), Source::Need("invoice.ingest".to_owned())];
    /// assert_eq!(WorkerCard::queues_of(&sources), ["order", "need:invoice.ingest"]);
    /// ```
    pub fn queues_of(sources: &[Source]) -> Vec<String> {
        let name = |source: &Source| match source {
            Source::Queue(slug) => slug.clone(),
            Source::Need(need) => format!("{NEED}{}", need.replace('%', "%25").replace(',', "%2C")),
        };
        sources.iter().map(name).collect()
    }
}

impl WorkerRecord {
    /// Slugs of the versions that it has code for.
    pub fn flows(&self) -> impl Iterator<Item = &str> {
        self.queues.iter().map(String::as_str).filter(|name| !name.starts_with(NEED))
    }

    /// Needs of jobs that it has code for.
    pub fn needs(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.queues.iter().filter_map(|name| name.strip_prefix(NEED)).map(need)
    }

    /// Whether it has code for a need.
    pub fn serves_need(&self, need: &str) -> bool {
        self.needs().any(|served| served == need)
    }

    /// All that it serves, for people.
    pub fn serves(&self) -> String {
        let names: Vec<_> = self.flows().map(Cow::from).chain(self.needs()).collect();
        names.join(", ")
    }
}

fn need(written: &str) -> Cow<'_, str> {
    if written.contains('%') {
        written.replace("%2C", ",").replace("%25", "%").into()
    } else {
        written.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_with_commas_come_back() {
        let needs = ["a,b", "50%", "%2C", "%252C", "plain"];
        let sources: Vec<_> = needs.iter().map(|need| Source::Need((*need).to_owned())).collect();
        let queues = WorkerCard::queues_of(&sources);
        assert!(queues.iter().all(|name| !name.contains(',')), "{queues:?}");
        let read: Vec<_> =
            queues.iter().filter_map(|name| name.strip_prefix(NEED)).map(need).collect();
        assert_eq!(read, needs);
    }
}
