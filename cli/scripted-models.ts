/** A demo whose models are asked over HTTP, but are played by code: every role's real client at work, without a key. */
import type { ModelChoice } from '../activities/model-config.ts';
import { scriptedParts } from '../workers/parts.ts';
import { playWith } from '../workers/scripted-models/play.ts';
import { startScriptedModels } from '../workers/scripted-models/server.ts';
import type { Settings } from '../workers/settings.ts';
import type { Experiment } from './experiment.ts';

/** Both wire formats are spoken: the policy's base model by the one, the judge by the other. */
const base = scripted('openai', 'scripted-base');
const judge = scripted('anthropic', 'scripted-judge');

export const scriptedModelNames: readonly string[] = [base.model, judge.model];

/** As an experiment file names them. They have no weights, so nobody trains them. */
export const scriptedRoles = {
  ...{ policy: base, selfVerifier: base, selector: base, judge, proposer: judge },
  trainer: { provider: 'none' },
} as const;

function scripted(provider: 'openai' | 'anthropic', model: string): ModelChoice & { readonly model: string } {
  const free = { inputUsdPerMillion: 0, outputUsdPerMillion: 0 };
  return { provider, model, capabilities: { scripted: true }, price: free };
}

/** The same run with scripted models in all roles. */
export function withScriptedModels({ train, evaluation, ...rest }: Experiment): Experiment {
  const { policy, selfVerifier, selector, proposer, trainer } = scriptedRoles;
  return {
    ...rest,
    train: { ...train, models: { policy, selfVerifier, judge, proposer, trainer } },
    evaluation: { ...evaluation, models: { policy, selfVerifier, selector } },
  };
}

/** Serves the scripted models while `act` runs, with settings that lead to them. */
export async function whileScriptedModelsRun<T>(
  settings: Settings,
  act: (settings: Settings) => Promise<T>,
): Promise<T> {
  const server = await startScriptedModels(playWith(scriptedParts), { models: scriptedModelNames, port: 0 });
  try {
    return await act({
      ...settings,
      modelBaseUrls: { openai: server.baseUrl, anthropic: server.origin },
    });
  } finally {
    await server.close();
  }
}
