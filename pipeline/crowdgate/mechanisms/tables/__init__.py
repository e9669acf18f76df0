"""Tables with noise: queries, covering views, noise, consistency. Their part of a policy is in `spec`."""
