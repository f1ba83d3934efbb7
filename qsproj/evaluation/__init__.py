"""Evaluation of trees and alignments, with significance tests."""
