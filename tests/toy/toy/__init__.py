"""A toy paper: the smallest folder that the pipeline takes, used by docs/adding-a-paper.md."""
