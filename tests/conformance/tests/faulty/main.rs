//! The suite bites: memory with a fault is rejected, by the checks that are about it and by the differential test.

mod backend;
mod fault;
mod later;
mod subject;

use std::sync::Arc;

use pgflow_conformance::differential::compare;
use pgflow_conformance::{Options, Subject, Verdict, run};

use fault::Fault;
use subject::FaultyMemory;

/// Each fault, and checks that must notice it.
const NOTICED_BY: &[(Fault, &[&str])] = &[
    (Fault::NoFence, &["C16", "C18"]),
    (Fault::ReleaseBurnsAnAttempt, &["C22", "C26"]),
    (Fault::NoBackoff, &["C24", "C26"]),
    (Fault::IgnoresRetryAfter, &["C25a"]),
    (Fault::FatalIsRetried, &["C08", "K04", "K05"]),
    (Fault::OneMoreAttempt, &["C22", "C09b", "K15"]),
    (Fault::NoStartDelay, &["C25b"]),
    (Fault::FlowTimeoutOnly, &["C21"]),
    (Fault::NoCascade, &["C09a", "C09b", "C23"]),
    (Fault::NoConditions, &["C09a", "C09c", "C09d"]),
    (Fault::EventGap, &["C01", "C28", "K17"]),
    (Fault::EventsOutOfOrder, &["C01", "C11"]),
    (Fault::NoCursor, &["C28", "K17"]),
    (Fault::TwoGetOneTask, &["C13", "C14", "R08"]),
    (Fault::MoreThanAsked, &["K08"]),
    (Fault::NoQuotas, &["K16"]),
    (Fault::ForgetsToClaim, &["K12"]),
    (Fault::OutcomesInAnyOrder, &["K10", "K11"]),
    (Fault::SettlesTwice, &["C19", "C11", "K10"]),
    (Fault::LosesSettles, &["C17", "C05", "C11"]),
    (Fault::BeatsAlwaysExtend, &["C10", "C20"]),
    (Fault::NeverSweeps, &["C15", "C23", "C27", "K46"]),
    (Fault::ClaimsBeforeItSweeps, &["K46"]),
    (Fault::KeepsUnknown, &["K43", "K44", "K45"]),
    (Fault::ReleasesKnown, &["K43", "K45"]),
    (Fault::UnknownBurnsAnAttempt, &["K44"]),
    (Fault::CancelsNothing, &["C10", "C12", "K06"]),
    (Fault::RetriesNothing, &["K20", "K21", "K22"]),
    (Fault::EveryStartIsNew, &["C02", "K01", "R09"]),
    (Fault::UnknownFlowIsFine, &["C03"]),
    (Fault::RoundsNumbers, &["P01"]),
    (Fault::OutputsInAnyOrder, &["C06"]),
    (Fault::OnePageForAll, &["K31"]),
    (Fault::NoConflicts, &["K33", "K35"]),
    (Fault::LosesKeptSignals, &["W05", "W11", "W81"]),
    (Fault::IgnoresResumeIds, &["W02", "W11", "W80"]),
    (Fault::NoSignalConflicts, &["W90"]),
    (Fault::NeverWakes, &["W13", "W74"]),
    (Fault::RenumbersChunks, &["S07"]),
    (Fault::AppendsAgain, &["S02", "S26"]),
    (Fault::AppendsAfterTheEnd, &["S13"]),
    (Fault::IgnoresRevisions, &["SC11"]),
    (Fault::HidesSkippedMoments, &["SC13", "SC18"]),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_noticed() {
    for (fault, checks) in NOTICED_BY {
        let only = checks.iter().map(ToString::to_string).collect();
        let subjects: [Arc<dyn Subject>; 1] = [Arc::new(FaultyMemory(*fault))];
        let reports = run(&subjects, &Options { only, long: false }).await;
        assert_eq!(reports.len(), checks.len(), "{fault:?}: the checks {checks:?} exist");
        for report in reports {
            let failed = matches!(report.verdict, Verdict::Failed(_));
            assert!(failed, "{fault:?} must be noticed by {report}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_commands_notice_faults_too() {
    for fault in [
        Fault::NoFence,
        Fault::ReleaseBurnsAnAttempt,
        Fault::NoBackoff,
        Fault::IgnoresRetryAfter,
        Fault::FatalIsRetried,
        Fault::OneMoreAttempt,
        Fault::NoStartDelay,
        Fault::FlowTimeoutOnly,
        Fault::NoCascade,
        Fault::NoConditions,
        Fault::BeatsAlwaysExtend,
        Fault::NeverSweeps,
        Fault::ClaimsBeforeItSweeps,
        Fault::KeepsUnknown,
        Fault::ReleasesKnown,
        Fault::RetriesNothing,
        Fault::NoQuotas,
        Fault::OutcomesInAnyOrder,
    ] {
        let subjects: [Arc<dyn Subject>; 1] = [Arc::new(FaultyMemory(fault))];
        let difference = compare(&subjects, 1, 400).await;
        let text = difference.expect_err(&format!("{fault:?} must be noticed"));
        assert!(text.contains("here: "), "a repro shows where: {text}");
        let commands = text.lines().filter(|line| line.ends_with(");")).count();
        assert!(commands <= 12, "{fault:?}: a short repro, not {commands} commands:\n{text}");
    }
}
