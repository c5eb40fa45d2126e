-- A token may belong to a tenant, and then to one user of it; NULL: it does not.
ALTER TABLE tokens ADD COLUMN tenant TEXT;
ALTER TABLE tokens ADD COLUMN user TEXT;
