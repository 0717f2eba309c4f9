"""What a seat sees, as text: made from its own view, its own record and its own outcomes alone."""
