"""What the pages of releases, budgets, plans and private records say. Rendering is in `report`."""
