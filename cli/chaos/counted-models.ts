/** Scripted models outside the job, so that they outlive its command and count what really arrives. */
import { scriptedParts } from '../../workers/parts.ts';
import { playWith } from '../../workers/scripted-models/play.ts';
import { startScriptedModels } from '../../workers/scripted-models/server.ts';
import { scriptedModelNames } from '../scripted-models.ts';

export interface CountedModels {
  /** Leads a job to the models. */
  readonly environment: Readonly<Record<string, string>>;
  /** Requests that have arrived so far. */
  requests(): number;
  close(): Promise<void>;
}

export async function startCountedModels(): Promise<CountedModels> {
  let arrived = 0;
  const play = playWith(scriptedParts);
  const server = await startScriptedModels(
    (role, request) => {
      arrived += 1;
      return play(role, request);
    },
    { models: scriptedModelNames, port: 0 },
  );
  return {
    environment: { OPENAI_BASE_URL: server.baseUrl, ANTHROPIC_BASE_URL: server.origin },
    requests: () => arrived,
    close: () => server.close(),
  };
}
