"""One file per framework or service that Windlass goes along with; each imports it when used."""
