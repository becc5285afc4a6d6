"""Drives the built binary against real servers. Has none of the product's code, so it cannot share its mistakes."""
