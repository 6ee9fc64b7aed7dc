"""Victims, encoders and language models: load them and answer batches."""
