"""Networks: topologies of every kind, their cycles and failing links."""
