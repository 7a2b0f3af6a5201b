"""What the pages of docs/ show."""
