"""Enhanced dependencies beside trees."""
