"""The factors of thesis 2.2.4, 2.2.5 and 3.4.2, one module a family."""
