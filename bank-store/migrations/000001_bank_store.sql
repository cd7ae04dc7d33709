-- The bank store. Rules of the house:
--   * rows are inserted and kept; only runs, rollouts, attempts, model calls and trackers have a state that moves;
--   * content_digest is the sha256 of a row's content as canonical JSON: it tells a repeat from a conflict;
--   * documents are json, not jsonb: what was written is read back to the byte;
--   * the domain sha256 marks every reference to a blob, so that a collector can find them all.

create domain sha256 as text check (value ~ '^[0-9a-f]{64}$');

create table runs (
  id text primary key,
  kind text not null check (kind in ('train', 'evaluate')),
  seed double precision not null,
  identity json not null,
  config json not null,
  code_version text not null,
  state text not null default 'created'
    check (state in ('created', 'running', 'paused', 'completed', 'failed', 'cancelled')),
  state_reason text not null default '',
  bank_digest sha256,
  adapter_digest sha256,
  created_at timestamptz not null default clock_timestamp()
);

create table run_code_versions (
  run_id text not null references runs,
  code_version text not null,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (run_id, code_version)
);

create table tasks (
  id text primary key,
  benchmark text not null,
  app text not null,
  split text not null check (split in ('train', 'heldout')),
  provenance json not null,
  document json not null,
  content_digest sha256 not null
);

create table task_lists (
  run_id text primary key references runs,
  digest sha256 not null
);

create table task_list_entries (
  run_id text not null references task_lists,
  position integer not null,
  task_id text not null references tasks,
  primary key (run_id, position),
  unique (run_id, task_id)
);

create table groups (
  id text primary key,
  run_id text not null references runs,
  shard integer not null,
  step integer not null,
  task_id text not null references tasks,
  adapter_digest sha256,
  content_digest sha256 not null,
  unique (run_id, shard, step)
);

create table rollouts (
  id text primary key,
  run_id text not null references runs,
  owner_id text not null,
  index integer not null,
  task_id text not null references tasks,
  temperature double precision not null,
  adapter_digest sha256,
  max_steps integer not null,
  seed json not null,
  content_digest sha256 not null,
  -- Latest attempt (0: none yet), the token that its writers have to show, and the steps that it recorded.
  attempt integer not null default 0,
  fence integer not null default 0,
  steps integer not null default 0,
  -- Set once, together, when the rollout finishes; the outcome then follows the latest grade.
  outcome_kind text check (outcome_kind in ('success', 'failure', 'unscored')),
  outcome_cause text,
  verdict_message text,
  stop_reason text check (stop_reason in ('answered', 'infeasible', 'step_budget', 'time_budget', 'guard', 'died')),
  answer text,
  final_url text,
  final_observation_digest sha256,
  evidence_digest sha256,
  flags json,
  ending_digest sha256,
  trajectory_digest sha256,
  finished_at timestamptz,
  unique (owner_id, index),
  check ((outcome_kind = 'unscored') = (outcome_cause is not null)),
  check ((finished_at is null) = (outcome_kind is null)),
  check ((finished_at is null) = (trajectory_digest is null))
);
create index on rollouts (run_id);

create table attempts (
  rollout_id text not null references rollouts,
  attempt integer not null,
  worker text not null,
  initial_state_digest text,
  -- Null while open, then `finished` or the cause of death.
  ending text,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (rollout_id, attempt)
);

create table steps (
  rollout_id text not null,
  attempt integer not null,
  index integer not null,
  url_before text not null,
  url_after text not null,
  action json not null,
  target json,
  result json not null,
  observation_digest sha256 not null,
  screenshot_digest sha256,
  state_digest text,
  prompt_digest sha256 not null,
  token_ids json not null,
  log_probs json not null,
  tool_call_span json,
  decide_ms double precision not null,
  act_ms double precision not null,
  settle_ms double precision not null,
  observe_ms double precision not null,
  content_digest sha256 not null,
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (rollout_id, attempt, index),
  foreign key (rollout_id, attempt) references attempts
);

create table grades (
  -- Order of arrival; the first one of a rollout is what it finished with.
  id bigint generated always as identity,
  rollout_id text not null references rollouts,
  grader text not null,
  ref text not null,
  outcome_kind text not null check (outcome_kind in ('success', 'failure', 'unscored')),
  outcome_cause text,
  message text not null,
  -- Both set when a person overruled a grader.
  author text,
  reason text,
  content_digest sha256 not null,
  graded_at timestamptz not null default clock_timestamp(),
  primary key (rollout_id, grader, ref),
  check ((outcome_kind = 'unscored') = (outcome_cause is not null)),
  check ((author is null) = (reason is null))
);

create view grade_edits as
  select id, rollout_id, author, reason, outcome_kind, outcome_cause, message, graded_at
    from grades
   where author is not null;

create table model_calls (
  run_id text not null references runs,
  purpose text not null check (purpose in ('policy', 'judge', 'self-verifier', 'selector', 'proposer', 'grader')),
  owner text not null,
  ordinal integer not null,
  request_digest sha256 not null,
  state text not null check (state in ('running', 'done', 'failed')),
  -- Who executed it last, and until when nobody else may.
  holder uuid not null,
  lease_until timestamptz,
  executions integer not null default 1,
  replies integer not null default 0,
  input_tokens double precision not null default 0,
  output_tokens double precision not null default 0,
  -- Null as soon as one reply had no known price.
  cost_usd double precision default 0,
  model text,
  reply_digest sha256,
  -- Null for a large reply: it is the blob of that digest.
  reply json,
  latency_ms double precision,
  error text,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (run_id, owner, purpose, ordinal, request_digest),
  check ((state = 'done') = (reply_digest is not null))
);

create view costs as
  select run_id,
         purpose,
         sum(replies)::double precision as calls,
         sum(input_tokens) as input_tokens,
         sum(output_tokens) as output_tokens,
         case when bool_or(cost_usd is null) then null else sum(cost_usd) end as cost_usd
    from model_calls
   group by run_id, purpose;

create table judgements (
  group_id text not null references groups,
  rollout_id text not null references rollouts,
  score double precision not null check (score between 0 and 1),
  step_scores json not null,
  rationale text not null,
  content_digest sha256 not null,
  primary key (group_id, rollout_id)
);

create table answers (
  rollout_id text not null references rollouts,
  position integer not null,
  path_key text not null,
  host_key text not null,
  question_id text not null,
  version integer not null,
  p_yes double precision check (p_yes between 0 and 1),
  source text not null check (source in ('assertion', 'model')),
  primary key (rollout_id, position)
);

-- One row for every training step from which the version reads so.
create table questions (
  run_id text not null references runs,
  shard integer not null,
  id text not null,
  version integer not null,
  step integer not null,
  text text not null,
  scope text not null,
  polarity integer not null check (polarity in (1, -1, 0)),
  status text not null check (status in ('candidate', 'neutral', 'contradicted', 'retired')),
  assertion json,
  provenance json not null,
  content_digest sha256 not null,
  primary key (run_id, shard, id, version, step)
);

-- Current state of the certifier, one row a cell.
create table trackers (
  run_id text not null references runs,
  shard integer not null,
  question_id text not null,
  version integer not null,
  tier text not null check (tier in ('path', 'host', 'global')),
  key text not null,
  step integer not null,
  document json not null,
  primary key (run_id, shard, question_id, version, tier, key)
);

create table certificates (
  run_id text not null references runs,
  shard integer not null,
  question_id text not null,
  version integer not null,
  tier text not null check (tier in ('path', 'host', 'global')),
  key text not null,
  step integer not null,
  document json not null
);
-- Newest first within a cell: a snapshot reads the first row at or before its step.
create unique index on certificates (run_id, shard, question_id, version, tier, key, step desc);

-- A row says that the training step is certified: the snapshot after it will never change.
create table bank_snapshots (
  run_id text not null references runs,
  shard integer not null,
  step integer not null,
  certified_at timestamptz not null default clock_timestamp(),
  primary key (run_id, shard, step)
);

create table banks (
  run_id text not null references runs,
  digest sha256 not null,
  frozen_at timestamptz not null default clock_timestamp(),
  primary key (run_id, digest)
);

create table adapters (
  run_id text not null references runs,
  shard integer not null,
  step integer not null,
  batch_digest text not null,
  digest sha256 not null,
  metrics json,
  published_at timestamptz not null default clock_timestamp(),
  primary key (run_id, shard, step)
);

create table training_steps (
  run_id text not null references runs,
  shard integer not null,
  step integer not null,
  task_id text not null references tasks,
  outcome text not null
    check (outcome in ('updated', 'below_quorum', 'judge_error', 'self_verifier_error', 'no_gradient')),
  success integer not null,
  failure integer not null,
  unscored integer not null,
  mean_judge_score double precision,
  adapter_digest sha256,
  batch_digest text,
  metrics json,
  batch json,
  code_version text not null,
  content_digest sha256 not null,
  committed_at timestamptz not null default clock_timestamp(),
  primary key (run_id, shard, step)
);

create table selections (
  run_id text not null references runs,
  task_id text not null references tasks,
  bank_digest sha256,
  selected text references rollouts,
  comparisons json not null,
  code_version text not null,
  content_digest sha256 not null,
  selected_at timestamptz not null default clock_timestamp(),
  primary key (run_id, task_id)
);

create view votes as
  select run_id,
         task_id,
         (comparison.position - 1)::integer as comparison,
         comparison.value ->> 'incumbent' as incumbent,
         comparison.value ->> 'challenger' as challenger,
         (vote.value ->> 'vote')::integer as vote,
         vote.value ->> 'label' as label
    from selections,
         json_array_elements(comparisons) with ordinality as comparison (value, position),
         json_array_elements(comparison.value -> 'votes') as vote (value);
