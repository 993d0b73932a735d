"""Knowledge of libraries: what their functions call, build, return and compile."""
