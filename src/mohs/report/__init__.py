"""Records -> figures -> tables and pages: a folder for each verb, and beside the folders what they share."""
