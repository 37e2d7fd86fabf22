"""`heron analyze`: where a run is right and where it is not, and what its data is made of."""
