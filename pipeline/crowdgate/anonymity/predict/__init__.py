"""Predictions of anonymity before anybody is asked: for a group by a contract's attributes, for a questionnaire
question by question, and for one's own answers."""
