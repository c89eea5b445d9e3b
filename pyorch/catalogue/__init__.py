"""Everything that experiment files can name: described, as a JSON schema, and made anew."""
