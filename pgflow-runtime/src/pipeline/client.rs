//! Queues, rates and resources, from the outside.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pgflow_machine::job::{JobId, JobOutcome, Redriven, check_name};
use pgflow_machine::permit::{Bucket, FormedBatches, Rate, Resource, Stage, batches_of};

use super::builder::OWN;
use crate::Db;
use crate::backend::{Backend, BackendError, JobSearch, JobSummary, JobsOf, PausedNeed};
use crate::client::{BATCH, ClientError, ask_pipelines, ask_upkeep};

/// Dead messages that are counted.
const COUNTED: u32 = 10_000;

/// Messages that a rate is known by, and for how long.
const SAMPLE: u32 = 500;
const MINUTE: Duration = Duration::from_mins(1);

/// Who pauses queues, for those who look later.
const BY: &str = "operator";

impl Db {
    /// The queue of this name, for those who look after it.
    ///
    /// ```
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = pgflow::Db::connect("memory:").await?;
    /// let stats = db.queue("ingest").stats().await?;
    /// assert_eq!((stats.depth, stats.in_flight, stats.dead), (0, 0, 0));
    /// # Ok(()) })
    /// # }
    /// ```
    pub fn queue(&self, name: &str) -> QueueHandle {
        QueueHandle { db: self.clone(), name: name.to_owned() }
    }

    /// The dead messages of a queue.
    ///
    /// ```
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// use std::time::Duration;
    ///
    /// let db = pgflow::Db::connect("memory:").await?;
    /// let dead = db.dead("ingest");
    /// let ids: Vec<_> = dead.list(100).await?.into_iter().map(|message| message.id).collect();
    /// dead.redrive(&ids, Duration::from_millis(100)).await?; // ten each second
    /// dead.prune(Duration::from_hours(30 * 24)).await?;
    /// # Ok(()) })
    /// # }
    /// ```
    pub fn dead(&self, queue: &str) -> DeadLetters {
        DeadLetters(self.queue(queue))
    }

    /// A counted resource, which attempts of pipelines hold.
    ///
    /// ```
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = pgflow::Db::connect("memory:").await?;
    /// db.resource("gpu").capacity(4).await?;
    /// let (gpu, held) = db.resource("gpu").get().await?.expect("it is there");
    /// assert_eq!((gpu.capacity, held), (4, 0));
    /// assert!(db.resource("gpu").capacity(0).await.is_err());
    /// # Ok(()) })
    /// # }
    /// ```
    pub fn resource(&self, slug: &str) -> ResourceHandle {
        ResourceHandle { db: self.clone(), slug: slug.to_owned() }
    }

    /// A rate, which pipelines keep over all processes.
    ///
    /// ```
    /// use pgflow::pipeline::Rate;
    ///
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = pgflow::Db::connect("memory:").await?;
    /// db.rate("openai").set(Rate::per_minute(600)).await?;
    /// assert_eq!(db.rate("openai").get().await?, Some(Rate::per_minute(600)));
    /// # Ok(()) })
    /// # }
    /// ```
    pub fn rate(&self, slug: &str) -> RateHandle {
        RateHandle { db: self.clone(), slug: slug.to_owned() }
    }
}

impl Db {
    /// Needs that are paused, so that their jobs are not leased, by name.
    pub async fn paused_needs(&self) -> Result<Vec<PausedNeed>, ClientError> {
        ask_upkeep(self, (), |upkeep, ()| upkeep.paused_needs()).await
    }

    /// The same by queue: without the stages that are paused with one, for those who look.
    ///
    /// ```
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = pgflow::Db::connect("memory:").await?;
    /// db.queue("ingest").pause().await?;
    /// assert_eq!(db.paused_needs().await?.len(), 2, "messages, and those that wait to be batched");
    /// assert_eq!(db.paused_queues().await?.len(), 1);
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn paused_queues(&self) -> Result<Vec<PausedNeed>, ClientError> {
        let mut all = self.paused_needs().await?;
        let batches: BTreeSet<_> = all.iter().map(|paused| batches_of(&paused.need)).collect();
        all.retain(|paused| !batches.contains(&paused.need));
        Ok(all)
    }

    /// Forgets dead jobs, with their histories. Those that are not dead are left as they are. Says how many.
    pub async fn drop_dead(&self, jobs: &[JobId]) -> Result<u64, ClientError> {
        ask_pipelines(self, jobs.to_vec(), |queues, ids| queues.drop_dead(ids)).await
    }

    /// All rates, by name, and what is left of them.
    pub async fn rates(&self) -> Result<BTreeMap<String, Bucket>, ClientError> {
        ask_pipelines(self, (), |queues, ()| queues.rates()).await
    }

    /// What claims of each queue and need take, as the last program that started noted it; without those that take nothing.
    ///
    /// ```
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = pgflow::Db::connect("memory:").await?;
    /// assert!(db.stages().await?.is_empty(), "no worker has started");
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn stages(&self) -> Result<BTreeMap<String, Stage>, ClientError> {
        let mut stages = ask_pipelines(self, (), |queues, ()| queues.stages()).await?;
        stages.retain(|_, stage| !stage.takes_any());
        Ok(stages)
    }

    /// Batches that were formed so far of each need, and the messages in them: as in [`QueueStats::formed`]. What is batched after it
    /// was processed has the need `queue>batch`.
    pub async fn formed_batches(&self) -> Result<BTreeMap<String, FormedBatches>, ClientError> {
        ask_pipelines(self, (), |queues, ()| queues.formed()).await
    }

    /// All counted resources, by name, and how many units of each are held.
    pub async fn resources(&self) -> Result<BTreeMap<String, (Resource, u32)>, ClientError> {
        ask_pipelines(self, (), |queues, ()| queues.resources()).await
    }
}

/// A queue, for those who look after it.
#[derive(Clone, Debug)]
pub struct QueueHandle {
    db: Db,
    name: String,
}

/// How a queue is doing, with what its batches are formed of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueStats {
    /// Messages that wait, for whatever.
    pub depth: u64,
    /// Messages that are worked on.
    pub in_flight: u64,
    /// Those that wait to be batched.
    pub batching: u64,
    /// How long the first in line could have been taken.
    pub oldest: Option<Duration>,
    /// Messages that are dead, up to 10,000 of each kind.
    pub dead: u64,
    /// Messages that were done in a minute: in the last one, or at the pace of the last 500 if those took less.
    pub rate: u64,
    /// Batches that were formed of its messages since its pipeline was started first, and the messages in them: also those whose
    /// attempt failed. [`fill`](FormedBatches::fill) is how full they are, on the average.
    pub formed: FormedBatches,
}

impl QueueHandle {
    fn needs(&self) -> [String; 2] {
        [self.name.clone(), batches_of(&self.name)]
    }

    /// How it is doing.
    pub async fn stats(&self) -> Result<QueueStats, ClientError> {
        let mut stats = self.counts().await?;
        stats.dead = self.dead(COUNTED).await?.len() as u64;
        stats.rate = self.per_minute().await?;
        let formed = self.db.formed_batches().await?;
        for more in self.needs().iter().filter_map(|need| formed.get(need)) {
            stats.formed += *more;
        }
        Ok(stats)
    }

    async fn per_minute(&self) -> Result<u64, ClientError> {
        let (now, mut all) = (self.db.now().await?, 0);
        for need in self.needs() {
            let of = JobsOf::EndedAs(JobOutcome::Done);
            let search = JobSearch { of, need: Some(need), max: SAMPLE, ..JobSearch::default() };
            let done = self.db.find_jobs(&search).await?.jobs.into_iter();
            let ages = done.filter_map(|job| Some(job.ended_at?.saturating_until(now)));
            all += pace(&ages.filter(|age| *age < MINUTE).collect::<Vec<_>>());
        }
        Ok(all)
    }

    /// How many messages wait, for whatever, counted up to so many.
    pub(super) async fn depth(&self, most: u64) -> Result<u64, ClientError> {
        let about = (self.needs(), most);
        ask_pipelines(&self.db, about, |queues, (needs, most)| queues.depth(needs, *most)).await
    }

    async fn counts(&self) -> Result<QueueStats, ClientError> {
        let needs = self.needs();
        let depths = ask_upkeep(&self.db, (), |upkeep, ()| upkeep.job_depths(u64::MAX)).await?;
        let mut stats = QueueStats::default();
        for depth in depths.needs.iter().filter(|depth| needs.contains(&depth.need)) {
            stats.depth += depth.live() - depth.running;
            stats.in_flight += depth.running;
            stats.oldest = stats.oldest.max(depth.first_ready);
            if depth.need == needs[1] {
                stats.batching += depth.live() - depth.running;
            }
        }
        Ok(stats)
    }

    /// Messages that are dead: out of attempts, lost with too many processes, or unreadable; the last to end first. Their payloads
    /// are kept.
    pub async fn dead(&self, max: u32) -> Result<Vec<JobSummary>, ClientError> {
        let mut dead = Vec::new();
        for need in self.needs() {
            let search = JobSearch { need: Some(need), max, ..JobSearch::default() };
            dead.extend(self.db.dead_jobs(&search).await?.jobs);
        }
        dead.sort_by_key(|job| Reverse(job.place()));
        dead.truncate(max as usize);
        Ok(dead)
    }

    /// Keeps its messages from being taken, by whomever, until it is resumed; those that are taken go on. Also for needs of jobs
    /// that no pipeline takes. Says whether it was not paused before.
    ///
    /// ```
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = pgflow::Db::connect("memory:").await?;
    /// assert!(db.queue("ingest").pause().await?);
    /// assert_eq!(db.paused_needs().await?[0].need, "ingest");
    /// assert!(db.queue("ingest").resume().await?);
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn pause(&self) -> Result<bool, ClientError> {
        let needs = self.pausable();
        let paused = ask_upkeep(&self.db, needs, |upkeep, needs| upkeep.pause_needs(needs, BY));
        Ok(paused.await? > 0)
    }

    /// Lets its messages be taken again. Says whether it was paused.
    pub async fn resume(&self) -> Result<bool, ClientError> {
        let needs = self.pausable();
        Ok(ask_upkeep(&self.db, needs, |upkeep, needs| upkeep.resume_needs(needs)).await? > 0)
    }

    /// What it consists of. Of a name that is too long, nothing is batched.
    fn pausable(&self) -> Vec<String> {
        let [name, batches] = self.needs();
        let batches = Some(batches).filter(|batches| check_name(batches).is_ok());
        [name].into_iter().chain(batches).collect()
    }

    /// Opens dead messages again, with a fresh budget and their history, each so much later than the one before.
    pub async fn redrive(
        &self,
        messages: &[JobId],
        spacing: Duration,
    ) -> Result<Vec<Redriven>, ClientError> {
        self.db.redrive(messages, spacing).await
    }

    /// Forgets dead messages. Those that are not dead are left as they are. Says how many.
    pub async fn drop_dead(&self, messages: &[JobId]) -> Result<u64, ClientError> {
        self.db.drop_dead(messages).await
    }
}

/// The dead messages of a queue.
#[derive(Clone, Debug)]
pub struct DeadLetters(QueueHandle);

impl DeadLetters {
    /// Up to so many of them, with what they died of.
    pub async fn list(&self, max: u32) -> Result<Vec<JobSummary>, ClientError> {
        self.0.dead(max).await
    }

    /// Opens them again, with a fresh budget and their history, each so much later than the one before.
    pub async fn redrive(
        &self,
        messages: &[JobId],
        spacing: Duration,
    ) -> Result<Vec<Redriven>, ClientError> {
        self.0.redrive(messages, spacing).await
    }

    /// Forgets them. Those that are not dead are left as they are. Says how many.
    pub async fn drop(&self, messages: &[JobId]) -> Result<u64, ClientError> {
        self.0.drop_dead(messages).await
    }

    /// Forgets those that have been dead for longer than this. Says how many.
    pub async fn prune(&self, older_than: Duration) -> Result<u64, ClientError> {
        let mut pruned = 0;
        for need in self.0.needs() {
            pruned += prune_dead(self.0.db.backend().as_ref(), &need, older_than).await?;
        }
        Ok(pruned)
    }
}

/// Forgets what has been dead for longer than this, in batches. Says how many.
pub(crate) async fn prune_dead(
    backend: &dyn Backend,
    need: &str,
    older_than: Duration,
) -> Result<u64, BackendError> {
    let mut pruned = 0;
    loop {
        let batch = backend.pipelines()?.prune_dead(need, older_than, BATCH).await?;
        pruned += batch;
        if batch < u64::from(BATCH) {
            return Ok(pruned);
        }
    }
}

/// A rate.
#[derive(Clone, Debug)]
pub struct RateHandle {
    db: Db,
    slug: String,
}

impl RateHandle {
    /// Sets it for all processes, from their next claim on. A rate of 0 is a pause.
    pub async fn set(&self, rate: Rate) -> Result<(), ClientError> {
        let about = (self.slug.clone(), rate);
        ask_pipelines(&self.db, about, |queues, (slug, rate)| queues.set_rate(slug, *rate)).await
    }

    /// What it is, if it has been set.
    pub async fn get(&self) -> Result<Option<Rate>, ClientError> {
        let found = ask_pipelines(&self.db, self.slug.clone(), |queues, slug| queues.rate(slug));
        Ok(found.await?.map(|bucket| bucket.rate))
    }
}

/// A counted resource.
#[derive(Clone, Debug)]
pub struct ResourceHandle {
    db: Db,
    slug: String,
}

impl ResourceHandle {
    /// Sets how many units there are, at least one. Who holds more keeps it until the end of its attempt.
    pub async fn capacity(&self, units: u32) -> Result<(), ClientError> {
        if self.slug.starts_with(OWN) {
            let why = format!("names that begin with `{OWN}` are those of pipelines");
            return Err(ClientError::Backend(BackendError::Refused(why.into())));
        }
        let about = (self.slug.clone(), units);
        let set = ask_pipelines(&self.db, about, |queues, (slug, units)| {
            queues.set_capacity(slug, *units)
        });
        set.await
    }

    /// What it is, and how many units are held.
    pub async fn get(&self) -> Result<Option<(Resource, u32)>, ClientError> {
        ask_pipelines(&self.db, self.slug.clone(), |queues, slug| queues.resource(slug)).await
    }
}

/// How many a minute has, by how long ago these were done.
fn pace(ages: &[Duration]) -> u64 {
    let many = ages.len() as u64;
    match ages.iter().max() {
        Some(oldest) if many >= u64::from(SAMPLE) => {
            let micros = u64::try_from(oldest.as_micros()).unwrap_or(u64::MAX).max(1);
            many.saturating_mul(60_000_000) / micros
        }
        _ => many,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_that_of_a_minute_or_of_what_is_known_of_it() {
        let seconds = |many: usize, seconds| vec![Duration::from_secs(seconds); many];
        assert_eq!((pace(&[]), pace(&seconds(7, 1))), (0, 7), "few, and nobody knows more");
        assert_eq!(pace(&seconds(SAMPLE as usize, 30)), 1_000, "500 in half a minute");
        assert_eq!(pace(&seconds(SAMPLE as usize, 0)), 30_000_000_000);
    }
}
