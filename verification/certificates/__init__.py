"""Writing certificates: of pure profiles, of composed runs, of keyed releases."""
