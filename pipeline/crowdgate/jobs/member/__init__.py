"""`crowdgate audit --of membership`: could somebody tell who is in the table that a policy releases?"""
