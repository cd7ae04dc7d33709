-- What an attempt's browser asked for, request by request.

-- Null: the attempt is open, its worker died, or it had no environment.
alter table attempts add column request_log_digest sha256;
