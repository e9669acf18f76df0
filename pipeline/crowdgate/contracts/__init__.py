"""Data contracts, the public facts about tables: attributes, domains, levels, privacy unit, location."""
