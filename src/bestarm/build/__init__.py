"""What the rules of the workflow call; knows no workflow engine."""
