"""INCEpTION's protocol for external recommenders: it suggests tags and dependencies to annotators."""
