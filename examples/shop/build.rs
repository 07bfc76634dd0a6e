//! Writes the migrations of the flows in `src`.

fn main() {
    pgflow_build::migrations("migrations").emit();
}
