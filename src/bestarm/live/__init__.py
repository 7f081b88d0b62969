"""Live experiments: ask and tell, trials, histories, files to go on from, and summaries."""
