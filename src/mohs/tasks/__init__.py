"""What every kind of run is made of: options, verbs and their plans, the subject, and the frame around a search."""
