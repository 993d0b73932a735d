"""The pages: one HTML file for each account, with its style and script inside; it loads nothing."""
