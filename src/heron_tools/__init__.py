"""Tools on heron's fork API, a folder each; deleting one leaves all else as it is."""
