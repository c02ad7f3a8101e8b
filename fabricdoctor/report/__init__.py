"""Reports: text, JSON and Markdown, one file per format."""
