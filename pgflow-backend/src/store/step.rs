//! Steps that share a transaction with the record of their completion.

use pgflow_machine::{Holds, Lease, Settle, Settled};

use super::execute::{execute, tell};
use super::{Access, Store, Stored, waits};
use crate::tx::StepTx;

/// Opens the transaction, if the lease still holds.
pub(super) async fn begin<S: Store>(store: &S, lease: &Lease) -> Stored<Option<StepTx>> {
    if !store.abilities().transactions {
        return Err(S::no_transactions());
    }
    let mut session = store.begin(Access::Step).await?;
    let (holds, _) = execute(&mut session, &Holds { leases: std::slice::from_ref(lease) }).await?;
    if holds != [true] {
        return Ok(None);
    }
    store.lend(session).await.map(Some)
}

/// Records the completion, and commits only if it took effect.
pub(super) async fn commit<S: Store>(store: &S, tx: StepTx, settle: &Settle) -> Stored<Settled> {
    let mut session = store.take_back(tx).await?;
    let settles = std::slice::from_ref(settle);
    let (outcomes, news) = waits::settle_in(&mut session, settles, store.limits()).await?;
    let outcome = outcomes.first().copied().unwrap_or(Settled::Unknown);
    if outcome == Settled::Applied {
        store.commit_step(session).await?;
        tell(store, news).await;
    } else {
        store.undo(session).await?;
    }
    Ok(outcome)
}
