"""What papers and the pipeline stand on: words, tables, files, looks."""
