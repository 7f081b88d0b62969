"""The runner: plans, tasks, runs on cores, and tables that are kept; knows no paper."""
