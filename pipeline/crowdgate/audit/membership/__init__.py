"""Membership: can somebody tell who is in the table that a release was made of?"""
