"""./dev mutate: small faults in the engine and the front end, and which tests notice them."""
