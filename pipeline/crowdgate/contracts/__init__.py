"""What is known of a table in public: attributes, domains, levels, privacy unit, where it is read."""
