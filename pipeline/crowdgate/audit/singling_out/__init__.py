"""`crowdgate audit`: can somebody be singled out by what a policy releases?"""
