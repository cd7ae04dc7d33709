/** What a workplace adds to the model that a run names: address, key, price, and the account's door. */
import { fault } from '../activities/failures.ts';
import type { AccountStore } from '../bank-store/contract.ts';
import type { AccountLimits, EndpointChoice, ModelEndpoint } from '../models/contract.ts';
import { costAt, priceFor } from '../models/prices.ts';
import { traceToFile } from './model-trace.ts';
import { readSecret, type Settings } from './settings.ts';

type Provider = EndpointChoice['provider'];

const usualKeyVariable: Readonly<Record<Provider, string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
};

const unlimited: AccountLimits = { concurrency: null, requestsPerMinute: null, tokensPerMinute: null };

/** Throws `ModelUnusable` when the key is missing. */
export function endpointFor(
  choice: EndpointChoice,
  { modelBaseUrls, modelTraceFile }: Pick<Settings, 'modelBaseUrls' | 'modelTraceFile'>,
  accounts: AccountStore,
): ModelEndpoint {
  const { provider, limits = unlimited } = choice;
  const baseUrl = choice.baseUrl ?? modelBaseUrls[provider] ?? null;
  const variable = keyVariable(choice);
  const apiKey = variable === null ? null : (readSecret(variable) ?? null);
  const isOwnAddress = baseUrl === null;
  if (apiKey === null && (isOwnAddress || choice.apiKeyVariable !== undefined))
    throw keyMissing(variable, choice);
  const price = priceFor(choice, isOwnAddress);
  return {
    choice,
    baseUrl,
    apiKey,
    gate: accounts.providerGate(
      `${provider} at ${baseUrl ?? 'its own address'}, key ${apiKey === null ? 'none' : variable}`,
      limits,
    ),
    priceOf: (usage) => (price === null ? null : costAt(price, usage)),
    ...(modelTraceFile !== undefined && { tracer: traceToFile(modelTraceFile) }),
  };
}

/** The provider's usual key goes to a server that the run names only when the run says so. */
function keyVariable({ provider, baseUrl, apiKeyVariable }: EndpointChoice): string | null {
  return apiKeyVariable ?? (baseUrl === undefined ? usualKeyVariable[provider] : null);
}

function keyMissing(variable: string | null, { provider, model }: EndpointChoice) {
  return fault(
    'ModelUnusable',
    `${variable} is not set, and ${model} needs a key`,
    `Set it where this command runs, or name another variable as \`apiKeyVariable\` of the ${provider} model`,
  );
}
