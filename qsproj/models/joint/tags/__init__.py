"""Tags of target words that are decided together with the trees and the links."""
