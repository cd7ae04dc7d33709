-- Ceilings hold for calls in flight too, and calls that end do not queue for one row of their run.

-- Dollars that the execution in flight may cost at most; null where none is in flight or no ceiling asks.
alter table model_calls add column reserved_usd double precision;
create index on model_calls (run_id) where reserved_usd is not null;

-- Several rows a run, the one that a connection writes chosen by its process: a row is locked until its writer is
-- flushed to disk, and sixteen calls in flight would flush one after the other.
alter table run_spending add column slot integer not null default 0;
alter table run_spending drop constraint run_spending_pkey;
alter table run_spending add primary key (run_id, slot);

create or replace function add_to_run_spending() returns trigger language plpgsql as $$
begin
  insert into run_spending as spent (run_id, slot, cost_usd)
  values (new.run_id, pg_backend_pid() % 32, new.cost_usd - old.cost_usd)
  on conflict (run_id, slot) do update set cost_usd = spent.cost_usd + excluded.cost_usd;
  return null;
end $$;

-- Reports now say who was asked and with which parameters; of older ones that is not known.
update model_calls set report = report::jsonb || '{"provider": "unknown", "parameters": {}}' where report is not null;
