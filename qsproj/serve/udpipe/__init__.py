"""The REST API of UDPipe, spoken by models of ours."""
