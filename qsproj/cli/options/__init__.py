"""Options that commands share, and what they make of them."""
