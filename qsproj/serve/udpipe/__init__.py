"""UDPipe's REST API for qsproj models."""
