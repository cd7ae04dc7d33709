/** The parts that need no key and no GPU. Each is built on its own, so that no process holds more than it serves. */
export { loadBasePolicy } from './base-policy.ts';
export { createRubricJudge } from './judge.ts';
export { createEmbeddedPolicyFactory } from './policy.ts';
export { createAssertionMiner } from './proposer.ts';
export { createEvidenceSelector } from './selector.ts';
export { createAssertionVerifier } from './self-verifier.ts';
export { createEmbeddedTrainer } from './trainer.ts';
