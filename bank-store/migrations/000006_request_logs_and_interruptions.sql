-- What an attempt's browser asked for, request by request, and how often the attempt was interrupted where it stands.

alter table attempts
  -- Null: the attempt is open, its worker died, or it had no environment.
  add column request_log_digest sha256,
  -- Lives in a row that ended without recording a step, and the number of steps at which they did.
  add column interruptions integer not null default 0,
  add column interrupted_at integer;
