-- Records which server the installation's epoch belongs to, if none is noted.
update windlass_installation set server = :server where id = 1 and server is null
