"""Pictures of runs, of claims and of losses per record; one picture is public or its owner's, never both."""
