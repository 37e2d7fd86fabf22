"""The papers' tables, figures and claims: what fills each, and heron's numbers beside theirs."""
