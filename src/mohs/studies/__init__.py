"""Human studies: ask people about the texts of a run, and say what they answered."""
