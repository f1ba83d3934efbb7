"""What is known of a language before anything is learned of it."""
