"""What the tests of other projects use: the fixture `assert_private` of pytest, in `certdp.testing.plugin`."""
