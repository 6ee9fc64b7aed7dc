"""The parts of every kind of run: options, verbs and their plans, the subject, and the frame around a search."""
