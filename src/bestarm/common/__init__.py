"""What papers and the pipeline share: types, tables, files, the style of figures."""
