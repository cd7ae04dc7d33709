/** The parts that ask a model server. Each is built from an endpoint, which brings address, key, gate and price. */
export { createProviderJudge } from './roles/judge.ts';
export { createProviderPolicies } from './roles/policy.ts';
export { createProviderProposer } from './roles/proposer.ts';
export { createProviderSelector } from './roles/selector.ts';
export { createProviderSelfVerifier } from './roles/self-verifier.ts';
export { createProviderTranslator } from './roles/translator.ts';
