import { join } from 'node:path';
import type { AccountStore } from '../../bank-store/contract.ts';
import type { EndpointChoice, ModelEndpoint, TokenPrice } from '../../models/contract.ts';
import { priceList } from '../../models/prices.ts';
import { ProviderError, remedyFor } from '../../models/providers/errors.ts';
import { type FeatureReport, type ProbeReport, probeModel } from '../../models/providers/probe.ts';
import { endpointFor } from '../../workers/endpoints.ts';
import type { Settings } from '../../workers/settings.ts';
import { type Experiment, readExperiment } from '../experiment.ts';
import { type Field, fields, jsonLine, safeLine } from '../report/terminal-text.ts';

interface Options {
  /** Experiment file. */
  readonly config?: string;
  readonly json?: boolean;
}

interface ModelReport {
  readonly roles: readonly string[];
  readonly provider: EndpointChoice['provider'];
  readonly model: string;
  /** Null: the model cannot be used, and `problem` says why. */
  readonly probe: ProbeReport | null;
  readonly problem: string | null;
  /** Dollars of this check; null where no price is known. */
  readonly costUsd: number | null;
  readonly price: TokenPrice | null;
  readonly priceFrom: string;
}

/** Asks every model of an experiment a few words. Sets exit status 1 when one of them cannot be used. */
export async function checkModels(settings: Settings, { config, json = false }: Options): Promise<void> {
  const file = config ?? join(settings.projectDirectory, 'infra/experiments/demo.yaml');
  const used = endpointsOf(readExperiment(file));
  const reports: ModelReport[] = [];
  for (const { roles, choice } of used) reports.push(await examine(settings, roles, choice));
  if (json) console.log(jsonLine(reports));
  else console.log(reports.length === 0 ? allEmbedded(file) : reports.map(describe).join('\n\n'));
  if (reports.some(({ probe }) => probe === null)) process.exitCode = 1;
}

interface UsedModel {
  readonly roles: readonly string[];
  readonly choice: EndpointChoice;
}

/** Each model once, with all roles that it plays. */
export function endpointsOf({ train, evaluation }: Experiment): readonly UsedModel[] {
  const { trainer: _, ...roles } = { ...train.models, ...evaluation.models };
  const used = new Map<string, UsedModel>();
  for (const [role, choice] of Object.entries(roles)) {
    if (choice.provider === 'embedded') continue;
    const key = JSON.stringify(choice);
    used.set(key, { choice, roles: [...(used.get(key)?.roles ?? []), role] });
  }
  return [...used.values()];
}

/** A check is a handful of requests: it waits for nobody, and needs no database. */
const openDoor: AccountStore = {
  providerGate: () => ({ enter: async () => ({ leave: async () => {} }) }),
};

async function examine(
  settings: Settings,
  roles: readonly string[],
  choice: EndpointChoice,
): Promise<ModelReport> {
  const { provider, model } = choice;
  const priceFrom = choice.price === undefined ? `price list of ${priceList.asOf}` : 'experiment file';
  const report = { roles, provider, model, priceFrom };
  try {
    const endpoint = endpointFor(choice, settings, openDoor);
    const probe = await probeModel(endpoint, new AbortController().signal);
    const costUsd = probe.usage === null ? null : endpoint.priceOf(probe.usage);
    return { ...report, probe, problem: null, price: priceOf(endpoint), costUsd };
  } catch (error) {
    return { ...report, probe: null, problem: problemOf(error), price: null, costUsd: null };
  }
}

function priceOf(endpoint: ModelEndpoint): TokenPrice | null {
  const inputUsdPerMillion = endpoint.priceOf({ inputTokens: 1_000_000, outputTokens: 0 });
  const outputUsdPerMillion = endpoint.priceOf({ inputTokens: 0, outputTokens: 1_000_000 });
  if (inputUsdPerMillion === null || outputUsdPerMillion === null) return null;
  return { inputUsdPerMillion, outputUsdPerMillion };
}

function problemOf(error: unknown): string {
  if (error instanceof ProviderError) return `${error.message}. ${remedyFor(error.kind)}`;
  return error instanceof Error ? error.message : String(error);
}

function describe(report: ModelReport): string {
  const { roles, provider, model, probe, problem, costUsd } = report;
  const title = `${model} (${provider}), ${roles.join(', ')}`;
  if (probe === null) return `${title}\n  cannot be used: ${safeLine(problem ?? '')}`;
  const { latencyMs, servedModel, features } = probe;
  const rows: readonly Field[] = [
    ['answers', `in ${Math.round(latencyMs)} ms, as ${safeLine(servedModel)}`],
    ...features.map((feature): Field => [feature.feature, describeFeature(feature)]),
    ['price', describePrice(report)],
    ['this check', costUsd === null ? 'cost an unknown amount' : `cost $${costUsd.toFixed(5)}`],
  ];
  return [title, ...fields(rows).map((line) => `  ${line}`)].join('\n');
}

function describeFeature({ works, problem, expected }: FeatureReport): string {
  const surprise = works === expected ? '' : `; the capability table says ${expected ? 'yes' : 'no'}`;
  return `${works ? 'yes' : `no: ${safeLine(problem)}`}${surprise}`;
}

function describePrice({ price, priceFrom }: ModelReport): string {
  if (price === null) return 'unknown: give the model a `price`, else no ceiling can be kept';
  const { inputUsdPerMillion, outputUsdPerMillion } = price;
  return `$${inputUsdPerMillion} in, $${outputUsdPerMillion} out per million tokens (${priceFrom})`;
}

const allEmbedded = (file: string) =>
  `Every role of ${file} is played by an embedded part: there is no model to ask.`;
