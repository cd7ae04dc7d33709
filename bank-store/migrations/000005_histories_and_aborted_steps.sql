-- What became of a run's workflows, event by event, and training steps that a cancelled run left in their middle.

-- One row for each execution of a workflow that has closed; a workflow that continued as new has several.
create table workflow_histories (
  run_id text not null references runs,
  workflow_id text not null,
  execution_id text not null,
  workflow_type text not null,
  status text not null
    check (status in ('completed', 'failed', 'cancelled', 'terminated', 'continued_as_new', 'timed_out')),
  -- Of the history as gzipped JSON.
  digest sha256 not null,
  events integer not null,
  -- Of the workers that took its decisions, oldest first: replaying it needs workflow code that agrees with them.
  code_versions json not null,
  closed_at timestamptz not null,
  primary key (run_id, workflow_id, execution_id)
);

create index on workflow_histories (closed_at);

alter table training_steps
  drop constraint training_steps_outcome_check,
  add constraint training_steps_outcome_check check (
    outcome in ('updated', 'below_quorum', 'judge_error', 'self_verifier_error', 'no_gradient', 'aborted'));
