"""The views of radius runs."""
