"""What a person looks at: plots of recordings, in one style."""
