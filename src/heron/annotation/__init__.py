"""People's labels: sheets to fill in, agreement, majority and adjudication."""
