"""The recorded pulls of the two applications: making and reading the kept tables.

`battery` makes data/battery, and `cuts` makes data/mip, of the problems in `corridors`. `recorded`
turns both tables into pulls, those of data/mip with the predictions of `forecast`.
"""
