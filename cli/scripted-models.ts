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

function scripted(provider: 'openai' | 'anthropic', model: string): ModelChoice & { readonly model: string } {
  const free = { inputUsdPerMillion: 0, outputUsdPerMillion: 0 };
  return { provider, model, capabilities: { scripted: true }, price: free };
}

/** The same run with scripted models in all roles. They have no weights, so nobody trains them. */
export function withScriptedModels({ train, evaluation, ...rest }: Experiment): Experiment {
  const acting = { policy: base, selfVerifier: base };
  const trainer = { provider: 'none' } as const;
  return {
    ...rest,
    train: { ...train, models: { ...acting, judge, proposer: judge, trainer } },
    evaluation: { ...evaluation, models: { ...acting, selector: base } },
  };
}

/** Serves the scripted models while `act` runs, with settings that lead to them. */
export async function whileScriptedModelsRun<T>(
  settings: Settings,
  act: (settings: Settings) => Promise<T>,
): Promise<T> {
  const models = [base.model, judge.model];
  const server = await startScriptedModels(playWith(scriptedParts), { models, port: 0 });
  try {
    return await act({
      ...settings,
      modelBaseUrls: { openai: server.baseUrl, anthropic: server.origin },
    });
  } finally {
    await server.close();
  }
}
