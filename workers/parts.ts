/** Where parts are chosen: which benchmark and which models the names of a run stand for. */
import type { ModelChoice } from '../activities/model-config.ts';
import type { RunConfig } from '../activities/run-config.ts';
import type { Benchmark } from '../benchmarks/contract.ts';
import { createSandboxBenchmark } from '../benchmarks/sandbox/index.ts';
import { createWaiBenchmark } from '../benchmarks/wai/index.ts';
import type {
  EndpointChoice,
  Judge,
  ModelEndpoint,
  ModelIdentity,
  PolicyFactory,
  Proposer,
  Selector,
  SelfVerifier,
} from '../models/contract.ts';
import {
  createAssertionMiner,
  createAssertionVerifier,
  createEmbeddedPolicyFactory,
  createEmbeddedTrainer,
  createEvidenceSelector,
  createRubricJudge,
  loadBasePolicy,
} from '../models/embedded/index.ts';
import {
  createProviderJudge,
  createProviderPolicies,
  createProviderProposer,
  createProviderSelector,
  createProviderSelfVerifier,
} from '../models/providers/index.ts';
import { loadSettings, type Settings } from './settings.ts';

const sandbox = createSandboxBenchmark();

const benchmarks: Readonly<Record<string, (settings: Settings) => Benchmark>> = {
  sandbox: () => sandbox,
  wai: ({ waiRoot }) => createWaiBenchmark({ root: waiRoot }),
};

/** Opened once: reading a checkout takes a while. */
const opened = new Map<string, Benchmark>();

/** Throws, with what to do, for a name that nobody knows and where the benchmark's files are missing. */
export function benchmarkNamed(name: string, settings = loadSettings()): Benchmark {
  const open = benchmarks[name];
  if (open === undefined)
    throw new Error(`no benchmark named ${name}; there are: ${Object.keys(benchmarks).join(', ')}`);
  const key = JSON.stringify([name, settings.waiRoot]);
  const benchmark = opened.get(key) ?? open(settings);
  opened.set(key, benchmark);
  return benchmark;
}

/** What a sandbox run starts from. */
export const { seedQuestions } = sandbox;

const basePolicy = loadBasePolicy();
export const trainer = createEmbeddedTrainer(basePolicy);

/** How this workplace reaches a model behind an API. */
export type Reach = (choice: EndpointChoice) => ModelEndpoint;

/** Opens the part that a run's configuration names for a role. */
export type PartFor<Part> = (choice: ModelChoice) => Part;

// One function a role, so that no worker is given more roles than it serves (invariant 9).

export const policiesFor = (reach: Reach): PartFor<PolicyFactory> =>
  partFor(createEmbeddedPolicyFactory(basePolicy), createProviderPolicies, reach);

export const selfVerifierFor = (reach: Reach): PartFor<SelfVerifier> =>
  partFor(createAssertionVerifier(), createProviderSelfVerifier, reach);

export const selectorFor = (reach: Reach): PartFor<Selector> =>
  partFor(createEvidenceSelector(), createProviderSelector, reach);

/** The embedded one's milestones belong to the sandbox's tasks. */
export const judgeFor = (reach: Reach): PartFor<Judge> =>
  partFor(createRubricJudge(sandbox.rubric), createProviderJudge, reach);

export const proposerFor = (reach: Reach): PartFor<Proposer> =>
  partFor(createAssertionMiner(), createProviderProposer, reach);

/** The parts that scripted models play by. */
export const scriptedParts = {
  policies: createEmbeddedPolicyFactory(basePolicy),
  judge: createRubricJudge(sandbox.rubric),
  selector: createEvidenceSelector(),
  proposer: createAssertionMiner(),
};

/** A worker serves few configurations at a time; parts are cheap to open again. */
const KEPT = 8;

function partFor<Part>(
  embedded: Part,
  remote: (endpoint: ModelEndpoint) => Part,
  reach: Reach,
): PartFor<Part> {
  const opened = new Map<string, Part>();
  return (choice) => {
    if (choice.provider === 'embedded') return embedded;
    const key = JSON.stringify(choice);
    const part = opened.get(key) ?? remote(reach(choice));
    opened.set(key, part);
    for (const oldest of opened.keys()) if (opened.size > KEPT) opened.delete(oldest);
    return part;
  };
}

/** The models that a run uses, for its identity. Throws when one of them cannot be reached from here. */
export function modelIdentities(config: RunConfig, reach: Reach): Readonly<Record<string, ModelIdentity>> {
  const { policy, selfVerifier } = config.models;
  const acting = {
    policy: policiesFor(reach)(policy).identity,
    selfVerifier: selfVerifierFor(reach)(selfVerifier).identity,
  };
  if (config.kind === 'evaluate') {
    return { ...acting, selector: selectorFor(reach)(config.models.selector).identity };
  }
  const { judge, proposer, trainer: training } = config.models;
  return {
    ...acting,
    judge: judgeFor(reach)(judge).identity,
    proposer: proposerFor(reach)(proposer).identity,
    trainer: training.provider === 'none' ? nobody : trainer.identity,
  };
}

const nobody: ModelIdentity = { provider: 'none', model: 'none', revision: '1' };
