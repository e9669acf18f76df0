"""What figures foretell of people before anybody is asked: of a group by a contract's attributes, of a questionnaire
question by question, of one's own answers."""
