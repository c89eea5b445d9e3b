"""What a run simulates, as typed tables: attributes of C++ objects, faults, routes, traces."""
