"""A data set like HeSum: pages of news sites, their articles, and subheadings as summaries."""
