"""The sitemap: published content, and its files by the protocol of sitemaps.org."""
