//! The worker's one loop: everything it decides is decided here, in one task, without locks.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{Settle, Settled, Verdict, WorkerId};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use super::ahead::Ahead;
use super::attempt::{Attempts, Done};
use super::handler::{Ended, Handlers};
use super::health::Health;
use super::leases::Leases;
use super::lost_claim::LostClaim;
use super::pace::{POLL, Pace};
use super::report::WorkerReport;
use super::running::{RunningAttempts, Wanted};
use super::settles::Settles;
use super::shutdown::Stage;
use super::slots::Slots;
use super::sweep::Sweeps;
use super::ticks::Ticks;
use super::trip::{self, BoxFuture, ReleaseRequest, Returned, Upkeep, arrival};
use super::trouble::{LogLimit, Trouble};
use crate::backend::{Backend, Topic, Wake, Wakes};

/// A worker at work.
pub(super) struct Engine {
    pub(super) id: WorkerId,
    pub(super) backend: Arc<dyn Backend>,
    pub(super) handlers: Handlers,
    pub(super) attempts: Attempts,
    pub(super) wakes: Wakes,
    pub(super) done: UnboundedReceiver<Done>,
    pub(super) slots: Slots,
    pub(super) running: RunningAttempts,
    pub(super) leases: Leases,
    pub(super) ahead: Ahead,
    pub(super) settles: Settles,
    /// Results of the trip that is under way.
    pub(super) in_flight: usize,
    /// The trip that is under way claims nothing.
    pub(super) is_asking: bool,
    pub(super) lost_claim: LostClaim,
    pub(super) pace: Pace,
    pub(super) sweeps: Sweeps,
    pub(super) ticks: Ticks,
    pub(super) trouble: Trouble,
    pub(super) refusals: LogLimit,
    pub(super) stage: Stage,
    pub(super) grace: Duration,
    /// When handlers were last looked at.
    pub(super) looked: Instant,
    pub(super) report: WorkerReport,
    pub(super) health: Health,
}

impl Engine {
    /// Works until `shutdown` is ready and everything is settled or given back; `at_once` cuts that short.
    pub(super) async fn run(
        mut self,
        mut shutdown: BoxFuture<()>,
        mut at_once: BoxFuture<()>,
    ) -> WorkerReport {
        let (mut trip, mut upkeep) = (None, None);
        loop {
            self.gather().await;
            self.begin_ahead();
            self.set_out(&mut trip);
            self.keep_up(&mut upkeep);
            if self.is_over(trip.is_some()) {
                if trip.is_none() {
                    self.sign_off().await;
                }
                return self.report;
            }
            let due = self.due(trip.is_some(), upkeep.is_some());
            tokio::select! {
                Some(done) = self.done.recv() => self.note(done),
                returned = arrival(&mut trip) => self.on_return(returned),
                done = arrival(&mut upkeep) => self.on_upkeep(done),
                wake = self.wakes.next() => self.wake(&wake),
                () = &mut shutdown, if self.stage.is_working() => self.drain(),
                () = &mut at_once, if !self.stage.is_releasing() => self.stop_at_once(),
                () = sleep_until(due) => self.on_time(),
            }
        }
    }

    /// Lets handlers that are about to end do so, so that their results go along in one batch.
    async fn gather(&mut self) {
        if self.settles.any_wait() {
            tokio::task::yield_now().await;
            std::thread::yield_now();
        }
        while let Ok(done) = self.done.try_recv() {
            self.note(done);
        }
    }

    /// When something is to be done without anything happening before. What has to wait for a call that is under
    /// way is not due: its end will bring us back.
    fn due(&self, trip_is_out: bool, upkeep_is_out: bool) -> Instant {
        let now = Instant::now();
        let wants_trip = self.settles.any_wait() || self.has_room();
        let trip = wants_trip.then(|| self.pace.due());
        let asking = self.lost_claim.due().map(|due| self.pace.not_before(due));
        let refused = self.settles.refused.due().map(|due| self.pace.not_before(due));
        let trips = [trip, asking, refused].into_iter().flatten().filter(|_| !trip_is_out);
        let sweep = self.may_sweep().then(|| self.sweeps.due());
        let tick = self.ticks.due().filter(|_| self.may_tick());
        let upkeep = [self.leases.next_beat(), sweep, tick];
        let upkeep = upkeep.into_iter().flatten().filter(|_| !upkeep_is_out);
        let others = [self.running.next_abort(), self.stage.due(), self.next_look()];
        let others = others.into_iter().flatten();
        others.chain(trips).chain(upkeep).fold(now + POLL, Instant::min)
    }

    fn on_time(&mut self) {
        let now = Instant::now();
        self.running.abort_due(now);
        self.look_at_handlers(now);
    }

    fn wake(&mut self, wake: &Wake) {
        let now = Instant::now();
        let is_ours = match wake {
            Wake::Gap => {
                self.leases.ask_about_all(now);
                true
            }
            Wake::Topic(topic) => {
                if let Topic::Run(run) = topic {
                    self.leases.ask_about(*run, now);
                }
                self.handlers.wait_for(topic)
            }
        };
        if is_ours {
            self.pace.hint(now);
        }
    }

    /// Starts a trip if there is a reason and none is under way.
    fn set_out(&mut self, trip: &mut Option<BoxFuture<Returned>>) {
        let now = Instant::now();
        if trip.is_some() || !self.pace.may_join(now) {
            return;
        }
        if self.lost_claim.due().is_some_and(|due| due <= now) {
            *trip = Some(self.ask());
            return;
        }
        let backend = self.backend.clone();
        if let Some(refused) = self.settles.refused.take_due(now) {
            self.in_flight = 1;
            *trip = Some(trip::again(backend, self.id, refused));
            return;
        }
        let (settles, may_sweep) = (self.settles.take(), self.may_sweep());
        let claim = self.claim(now, !settles.is_empty());
        self.in_flight = settles.len();
        *trip = match claim {
            None if settles.is_empty() => None,
            // Not with results: a sweep would keep what they have locked.
            Some(claim) if settles.is_empty() && may_sweep && self.sweeps.go_along(now) => {
                Some(trip::sweep_and_claim(backend, claim))
            }
            claim => Some(trip::set_out(backend, self.id, settles, claim)),
        };
    }

    /// A trip that asks for tasks of a lost claim. Nothing is claimed on the way, and nothing else can be.
    fn ask(&mut self) -> BoxFuture<Returned> {
        let (sources, known) = (self.handlers.sources(), self.known());
        let settles = self.settles.take();
        (self.in_flight, self.is_asking) = (settles.len(), true);
        let question = ReleaseRequest { worker: self.id, sources, known };
        trip::ask(self.backend.clone(), settles, question)
    }

    /// Starts a heartbeat or a sweep if one is due and none is under way.
    fn keep_up(&mut self, upkeep: &mut Option<BoxFuture<Upkeep>>) {
        if upkeep.is_some() {
            return;
        }
        let (now, may_sweep, backend) = (Instant::now(), self.may_sweep(), &self.backend);
        let leases = self.leases.due(now);
        if !leases.is_empty() {
            *upkeep = Some(trip::beat(backend.clone(), leases));
        } else if may_sweep && self.sweeps.go_alone(now) {
            *upkeep = Some(trip::sweep(backend.clone(), self.handlers.have_needs()));
        } else if self.may_tick()
            && let Some(ticker) = self.ticks.go(now)
        {
            *upkeep = Some(trip::tick(self.backend.clone(), ticker));
        }
    }

    /// An attempt ended.
    fn note(&mut self, done: Done) {
        // Otherwise it was given up, and its end was recorded as that.
        let Some(mut holding) = self.running.remove(&done.lease) else { return };
        holding.name_if_it_blocks();
        self.health.running(self.running.len());
        let ended = match done.ended {
            Ended::Verdict(verdict) => {
                Ended::Verdict(self.stage.judge(verdict, holding.signals.cancel.is_set()))
            }
            ended => ended,
        };
        holding.count(&ended, done.took);
        match ended {
            // What came of it was said before.
            _ if holding.is_settled => {}
            // Also if a heartbeat found the task completed before we heard of it.
            Ended::Recorded(outcome)
                if outcome != Settled::RunEnded || done.lease.task().is_none() =>
            {
                self.recorded(&done.lease, &Verdict::Completed(().into()), outcome);
            }
            Ended::Verdict(verdict) if holding.wanted == Wanted::Result => {
                self.settles.push(Settle { lease: done.lease, verdict });
            }
            // Its run has ended, and what it holds is free when that is said.
            _ if holding.wanted != Wanted::Nothing && done.lease.task().is_some() => {
                self.settles.push(Settle { lease: done.lease, verdict: Verdict::Released });
            }
            _ => {
                self.leases.remove(&done.lease);
                self.report.superseded += 1;
            }
        }
    }
}

/// A dropped worker signs off too.
impl Drop for Engine {
    fn drop(&mut self) {
        drop(self.backend.sign_off(self.id));
    }
}
