"""`crowdgate audit`: can somebody be singled out by the outputs of a policy?"""
