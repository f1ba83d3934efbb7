"""The tagger, and the parser that tags and parses in one factor graph."""
