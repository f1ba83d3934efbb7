"""Trees, aligned pairs and plots as SVG and HTML, without dependencies."""
