"""Node counts and layouts worth offering to the solver, or why there are none."""
