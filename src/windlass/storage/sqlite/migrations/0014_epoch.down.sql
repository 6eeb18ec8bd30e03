-- Takes away the installation's epoch: a restored database is not told from the one before.
drop table windlass_installation;
