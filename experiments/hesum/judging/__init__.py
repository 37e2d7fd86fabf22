"""Human evaluation of summaries: blind forms, and tables of the ratings."""
