/** Where parts are chosen: which benchmark and which models the names of a run stand for. */
import type { Benchmark } from '../benchmarks/contract.ts';
import { createSandboxBenchmark } from '../benchmarks/sandbox/index.ts';
import type { ModelIdentity } from '../models/contract.ts';
import {
  createAssertionMiner,
  createAssertionVerifier,
  createEmbeddedPolicyFactory,
  createEmbeddedTrainer,
  createEvidenceSelector,
  createRubricJudge,
  loadBasePolicy,
} from '../models/embedded/index.ts';

const sandbox = createSandboxBenchmark();
const benchmarks: readonly Benchmark[] = [sandbox];

export function benchmarkNamed(name: string): Benchmark {
  const found = benchmarks.find((benchmark) => benchmark.name === name);
  if (found !== undefined) return found;
  const known = benchmarks.map((benchmark) => benchmark.name).join(', ');
  throw new Error(`no benchmark named ${name}; there are: ${known}`);
}

/** What a sandbox run starts from. */
export const { seedQuestions } = sandbox;

const basePolicy = loadBasePolicy();
export const policies = createEmbeddedPolicyFactory(basePolicy);
export const trainer = createEmbeddedTrainer(basePolicy);
export const selfVerifier = createAssertionVerifier();
export const selector = createEvidenceSelector();
/** Its milestones belong to the sandbox's tasks. */
export const judge = createRubricJudge(sandbox.rubric);
export const proposer = createAssertionMiner();

/** The models that a run of this kind uses, for its identity. */
export function modelIdentities(kind: 'train' | 'evaluate'): Readonly<Record<string, ModelIdentity>> {
  const acting = { policy: policies.identity, selfVerifier: selfVerifier.identity };
  return kind === 'train'
    ? { ...acting, judge: judge.identity, proposer: proposer.identity, trainer: trainer.identity }
    : { ...acting, selector: selector.identity };
}
