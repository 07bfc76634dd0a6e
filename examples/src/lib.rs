//! Nothing of its own: see the programs beside it.
