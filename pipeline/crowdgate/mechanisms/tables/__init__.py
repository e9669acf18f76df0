"""Tables with noise: queries, covering views, noise, consistency. What a policy says of them is in `spec`."""
