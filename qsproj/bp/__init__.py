"""Factor graphs over boolean and multi-state variables, and belief propagation on them.

Build variables and groups of factors (:mod:`qsproj.bp.factors`), join them with
:func:`qsproj.bp.graph.factor_graph`, call :func:`qsproj.bp.run.run`, read beliefs with
:mod:`qsproj.bp.run`. The derivations are in docs/notes/belief-propagation.md.
"""
