"""The factors of thesis 2.2.4, 2.2.5, 3.4.2 and 4.7, in modules by kind of variable, like their kernels."""
