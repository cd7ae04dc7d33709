-- Accounts at model providers, as all workers together use them, and what runs have spent.

create table provider_accounts (
  account text primary key,
  -- What of each minute's allowance was in use at used_at; it flows back at the rate of the limits.
  requests_used double precision not null default 0,
  tokens_used double precision not null default 0,
  used_at timestamptz not null default clock_timestamp(),
  -- The provider asked everybody to wait until then (Retry-After).
  closed_until timestamptz
);

-- One row for every request that waits for its turn or is being answered.
create table provider_tickets (
  id uuid primary key,
  account text not null references provider_accounts,
  place bigint generated always as identity,
  admitted boolean not null default false,
  -- Renewed while its worker lives.
  lease_until timestamptz not null
);

create index on provider_tickets (account, place);

-- Dollars over all replies of a run, discarded ones too. Null as soon as one reply had no known price.
create table run_spending (
  run_id text primary key references runs,
  cost_usd double precision
);

insert into run_spending
  select run_id, case when bool_or(cost_usd is null) then null else sum(cost_usd) end
    from model_calls group by run_id;

create function add_to_run_spending() returns trigger language plpgsql as $$
begin
  insert into run_spending as spent (run_id, cost_usd) values (new.run_id, new.cost_usd - old.cost_usd)
  on conflict (run_id) do update set cost_usd = spent.cost_usd + excluded.cost_usd;
  return null;
end $$;

-- A sum over the calls of a long run takes too long to be taken before each of them.
create trigger add_to_run_spending after update of cost_usd on model_calls
  for each row when (old.cost_usd is distinct from new.cost_usd)
  execute function add_to_run_spending();

-- Finds the calls of one task, whose owners begin alike.
create index on model_calls (run_id, owner text_pattern_ops);
