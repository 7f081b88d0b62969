"""What users do with results, instances and strategies: show, run, bound and compare."""
