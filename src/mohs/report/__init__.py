"""Records -> metrics -> tables and pages."""
