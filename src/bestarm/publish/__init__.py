"""What is made of results for readers: computed parts of pages, overviews, and the site."""
