"""Tables: reading files, kinds of columns, encoding, and checks."""
