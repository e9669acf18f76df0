"""Contents of the pages of releases, budgets, plans and private records. Rendering is in `report`."""
