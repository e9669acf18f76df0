"""`crowdgate audit --of inference`: could somebody infer an attribute from what a policy releases?"""
