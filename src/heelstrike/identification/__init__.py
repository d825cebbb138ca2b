"""Parameters from measurements: hs.identify, and what it is made of."""
