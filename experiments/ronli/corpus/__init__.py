"""`heron build ronli`: sentence pairs from a MediaWiki dump, labelled by linking phrases."""
