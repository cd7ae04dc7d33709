/**
 * Invariant 11: code that would break a running workflow is refused before it is deployed. Histories of every
 * workflow and of every way that it can go are replayed against the code as it stands.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as workflows from '../../workflows/index.ts';
import { type RecordedHistory, readStories } from '../histories/files.ts';
import { stories } from '../histories/scenarios.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const recorded = readStories();
const histories = recorded.flatMap(({ version, story, histories }) =>
  histories.map((history) => ({ name: `${version}/${story}`, ...history })),
);

const logger = new DefaultLogger('ERROR');
const bundleOf = (directory: string) =>
  bundleWorkflowCode({ workflowsPath: join(directory, 'index.ts'), logger });

let bundle: WorkflowBundleWithSourceMap;
beforeAll(async () => {
  Runtime.install({ logger });
  bundle = await bundleOf(join(project, 'workflows'));
});

/** What went wrong with each history that does not replay. */
async function failuresOf(
  workflowBundle: WorkflowBundleWithSourceMap,
  replayed: readonly RecordedHistory[],
): Promise<readonly { readonly workflowId: string; readonly error: Error }[]> {
  const failures = [];
  const results = Worker.runReplayHistories(
    { workflowBundle },
    // The history stays as it is: what a replay reads of it is its own business.
    replayed.map(({ workflowId, history }) => ({ workflowId, history: structuredClone(history) })),
  );
  for await (const { workflowId, error } of results) {
    if (error !== undefined) failures.push({ workflowId, error });
  }
  return failures;
}

describe('the recorded histories', () => {
  test('are those of every story, of this version and of those before', () => {
    const versions = Map.groupBy(recorded, ({ version }) => version);
    const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const told = versions.get(version)?.map(({ story }) => story);
    expect(told).toEqual([...Object.keys(stories), 'sandbox-evaluation', 'sandbox-training'].sort());
  });

  test.each(Object.keys(workflows))('show every way in which %s ends', (workflowType) => {
    const ends = new Set(
      histories.filter((one) => one.workflowType === workflowType).map(({ status }) => status),
    );
    expect(ends).toContain('completed');
    if (workflowType !== 'growBankWorkflow') expect(ends).toContain('cancelled');
    if (/Shard|Part|Suite/.test(workflowType)) expect(ends).toContain('continued_as_new');
  });

  test('replay with this code', async () => {
    expect(await failuresOf(bundle, histories)).toEqual([]);
  });
});

describe('a change of the plot', () => {
  // Inside the project, where the bundler finds its packages; git and the checks look away.
  mkdirSync(join(project, '.clift'), { recursive: true });
  const planted = mkdtempSync(join(project, '.clift/planted-'));
  afterAll(() => rmSync(planted, { recursive: true }));

  /** This code with a change in the training step. */
  async function bundleWith(name: string, instead: string): Promise<WorkflowBundleWithSourceMap> {
    const directory = join(planted, name);
    cpSync(join(project, 'workflows'), directory, { recursive: true });
    const file = join(directory, 'train-step.ts');
    const source = readFileSync(file, 'utf8');
    expect(source).toContain(certify);
    const imported = `import { patched } from '@temporalio/workflow';\n`;
    writeFileSync(file, imported + source.replace(certify, instead));
    return bundleOf(directory);
  }

  const certify = 'if (plan.useBank) await cpu.certify(ref);';
  const steps = histories.filter(({ workflowType }) => workflowType === 'trainStepWorkflow');

  test('that running training steps would not survive is caught', async () => {
    const failures = await failuresOf(await bundleWith('careless', ''), steps);
    expect(failures.length).toBeGreaterThan(0);
    for (const { error } of failures) expect(error.message).toMatch(/certify|nondeterminism/i);
  });

  test('is harmless behind a patch', async () => {
    const patched = await bundleWith(
      'careful',
      `if (plan.useBank && !patched('no-certification')) await cpu.certify(ref);`,
    );
    expect(await failuresOf(patched, steps)).toEqual(await failuresOf(bundle, steps));
  });
});

describe('the histories of real runs', () => {
  const eventsOf = (workflowType: string) =>
    histories.filter((one) => one.workflowType === workflowType).map(({ history }) => history.events);
  const countOf = (events: RecordedHistory['history']['events'], type: string) =>
    events.filter(({ eventType }) => eventType === type).length;

  test('stay within the budget of a training step and of an evaluation task', () => {
    const steps = eventsOf('trainStepWorkflow').map((events) => events.length);
    const tasks = eventsOf('evaluateTaskWorkflow').map((events) => events.length);
    // With 22 activities, and with K = 4: else the budget would mean nothing.
    expect(Math.max(...steps)).toBeGreaterThan(60);
    expect(Math.max(...steps)).toBeLessThanOrEqual(175);
    expect(Math.max(...tasks)).toBeGreaterThan(40);
    expect(Math.max(...tasks)).toBeLessThanOrEqual(90);
  });

  test('cost a shard at most 11 events for each training step or growth, beside its own start and end', () => {
    for (const events of eventsOf('trainShardWorkflow')) {
      const children = countOf(events, 'EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED');
      const said = countOf(events, 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED');
      // A pause costs its signals, what it answers, and their workflow tasks.
      expect(events.length).toBeLessThanOrEqual(11 * children + 8 * said + 12);
    }
  });

  test('hand a decision whose orchestrator died to another one after 5 seconds, children included', () => {
    const real = histories.filter(({ name }) => name.includes('/sandbox-'));
    expect(real.length).toBeGreaterThan(10);
    for (const { workflowId, history } of real) {
      expect(history.events[0], workflowId).toMatchObject({
        workflowExecutionStartedEventAttributes: { workflowTaskTimeout: '5s' },
      });
    }
  });

  test('hold no payload of 2 KB', () => {
    const sizes = histories.flatMap(({ history }) => payloadSizes(history));
    expect(sizes.length).toBeGreaterThan(500);
    expect(Math.max(...sizes)).toBeLessThan(2048);
  });
});

/** Bytes of every payload anywhere in a history. */
function payloadSizes(value: unknown): readonly number[] {
  if (typeof value !== 'object' || value === null) return [];
  const nested = Object.values(value).flatMap(payloadSizes);
  const isPayload = 'metadata' in value && 'data' in value && typeof value.data === 'string';
  return isPayload ? [...nested, Buffer.from(String(value.data), 'base64').length] : nested;
}
