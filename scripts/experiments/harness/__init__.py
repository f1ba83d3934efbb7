"""What all experiments share: data, builds, kept figures, tables, pages, and the way from a command to its page."""
