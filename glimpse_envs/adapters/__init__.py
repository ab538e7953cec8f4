"""Other libraries' ways of asking; each module needs the library that it is named after."""
