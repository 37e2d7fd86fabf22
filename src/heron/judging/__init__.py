"""People judge summaries: blind forms, what they send back, and what it adds up to."""
