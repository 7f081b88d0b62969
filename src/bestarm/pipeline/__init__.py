"""From plans to claims; knows no paper and no workflow engine."""
