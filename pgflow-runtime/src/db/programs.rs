//! What this program was compiled for.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pgflow_machine::CompiledFor;

use crate::FlowDef;
use crate::schema::interface;

/// What each flow was compiled for, by the address of its definition: schemas are put together once per flow,
/// not at every start.
static KNOWN: LazyLock<Mutex<HashMap<usize, Arc<CompiledFor>>>> = LazyLock::new(Mutex::default);

/// What this program's code of a flow was compiled for.
pub(crate) fn program(flow: &'static FlowDef) -> Arc<CompiledFor> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let program =
        known.entry(std::ptr::from_ref(flow).addr()).or_insert_with(|| compiled_for(flow).into());
    Arc::clone(program)
}

fn compiled_for(flow: &FlowDef) -> CompiledFor {
    let older = flow.finishes.iter().map(|older| older.version);
    let versions = std::iter::once(flow.version).chain(older).collect();
    CompiledFor { versions, interface: interface(flow) }
}
