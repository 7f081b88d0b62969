"""A toy paper: the smallest folder that the workflow takes, used by docs/adding-a-paper.md."""

from bestarm.toy.interactive import Equal

__all__ = ["Equal"]
