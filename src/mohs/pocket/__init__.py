"""Data that ships inside the package; see NOTICE for where it comes from."""
