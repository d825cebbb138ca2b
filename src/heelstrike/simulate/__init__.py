"""The simulator: worlds of a compiled scene, rollouts, parameters and state."""
