"""Scores of trees and alignments, and tests of their differences."""
