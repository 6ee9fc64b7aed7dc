"""What radius runs have to show."""
