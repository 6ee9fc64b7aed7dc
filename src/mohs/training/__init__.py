"""Training victims: data and recipe in, a folder with a classifier out."""
