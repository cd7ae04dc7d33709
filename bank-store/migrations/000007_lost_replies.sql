-- Tries of a model call that may have been paid for, and gave no reply that can be used.

alter table model_calls
  -- Executions that ended so.
  add column lost_replies integer not null default 0,
  -- Of these, those before the last failure that needed a person: tries are counted from there.
  add column lost_before integer not null default 0;

create or replace view costs as
  select run_id,
         purpose,
         sum(replies)::double precision as calls,
         sum(input_tokens) as input_tokens,
         sum(output_tokens) as output_tokens,
         case when bool_or(cost_usd is null) then null else sum(cost_usd) end as cost_usd,
         sum(lost_replies)::double precision as lost_replies
    from model_calls
   group by run_id, purpose;
