"""Sweeps: Hydra's launcher and sweeper plugins, and jobs in processes of their own."""

# Environment variable of a sweep's server: the `config.yaml` whose data it reads before it forks.
READ = "HERON_READ"
