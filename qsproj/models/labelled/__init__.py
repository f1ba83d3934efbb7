"""The labelled parser: relations are part of the distribution over trees."""
