"""Two trees and an alignment in one factor graph."""
