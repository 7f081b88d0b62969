"""What papers and the rooms above them share: types, tables, files, the style of figures."""
