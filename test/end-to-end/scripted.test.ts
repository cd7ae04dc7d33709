import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BankStore, createBankStore } from '../../bank-store/index.ts';
import { type Stack, startStack } from '../../infra/stack.ts';
import { trainStepId } from '../../workflows/names.ts';
import { settingsForHome } from '../support/settings.ts';
import { DemoHome, type DemoResult } from './demo-process.ts';

const training = 'scripted-s4-1';
const evaluation = `${training}-clift`;

describe('the demo with every model asked over HTTP', () => {
  const home = new DemoHome();
  let result: DemoResult;
  let stack: Stack;
  let store: BankStore & { close(): Promise<void> };

  beforeAll(async () => {
    result = await home.start('scripted.yaml', '--models', 'scripted').result();
    stack = await startStack(settingsForHome(home.path));
    store = await createBankStore(stack);
  }, 400_000);
  afterAll(async () => {
    await store?.close();
    await home.close();
  });

  test('freezes a bank, trains nothing and reports every arm', () => {
    expect(result.arms).toHaveLength(3);
    expect(result.digests).toMatchObject({ bank: expect.any(String), adapter: null });
  });

  test('asks every model of every role, at a price that is known', async () => {
    const paid = async (runId: string) =>
      Object.fromEntries((await store.costs(runId)).map((row) => [row.purpose, row]));
    const asked = { calls: expect.any(Number), inputTokens: expect.any(Number), costUsd: 0 };
    expect(await paid(training)).toMatchObject({
      policy: asked,
      judge: asked,
      'self-verifier': asked,
      proposer: asked,
    });
    const { policy, selector, judge } = await paid(evaluation);
    expect([policy?.calls, selector?.calls].every((calls) => (calls ?? 0) > 0)).toBe(true);
    expect(judge).toBeUndefined();
  });

  test('pays for each call once, and keeps what the server said of it', async () => {
    const [call, ...others] = await store.callsOf(training, trainStepId(training, 0, 0));
    expect(others.every(({ key }) => key.purpose === 'proposer')).toBe(true);
    expect(call).toMatchObject({
      key: { purpose: 'judge' },
      executions: 1,
      replies: 1,
      report: { model: 'scripted-judge', finishReason: 'end_turn', flags: [] },
    });
  });

  test('records token ids, log-probabilities and the span of every tool call', async () => {
    const rollouts = await store.rolloutsOf(trainStepId(training, 0, 0));
    const steps = rollouts.flatMap((rollout) => rollout.steps);
    expect(steps.length).toBeGreaterThan(0);
    for (const { tokenIds, logProbs, toolCallSpan } of steps) {
      expect(tokenIds).toHaveLength(logProbs.length);
      expect(toolCallSpan).toEqual([0, 1]);
    }
  });

  test('has the models and how they are asked in the identities of its runs', async () => {
    const { identity } = await store.getRun(training);
    expect(identity).toMatchObject({
      'models.judge.provider': 'anthropic',
      'models.judge.model': 'scripted-judge',
      'models.policy.provider': 'openai',
      'models.policy.effective.temperature': 'by call',
      'models.trainer.provider': 'none',
    });
    expect(Object.keys(identity).filter((name) => /baseUrl|apiKey|price|ceilings/i.test(name))).toEqual([]);
  });
});
