"""The factors of thesis 2.2.4, 2.2.5, 3.4.2 and 4.7, by what they join, as their kernels are."""
