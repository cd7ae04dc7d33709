import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { audit } from '../../../cli/commands/audit.ts';
import { listBanks, showBank } from '../../../cli/commands/bank.ts';
import { runs } from '../../../cli/commands/runs.ts';
import { parseShown, show } from '../../../cli/commands/show.ts';
import { listTasks } from '../../../cli/commands/tasks.ts';
import { WIDTH } from '../../../cli/report/terminal-text.ts';
import { stopStack } from '../../../infra/stack.ts';
import type { Settings } from '../../../workers/settings.ts';
import { evaluateTaskId, rolloutId, trainStepId } from '../../../workflows/names.ts';
import { settingsForHome } from '../../support/settings.ts';
import { fabricateDemo, heldOut, openTestStore, type TestStore, trainingTask } from '../fabricated-runs.ts';

const home = mkdtempSync(join(tmpdir(), 'clift-reading-'));
const [won] = heldOut;
const training = 'demo-s1-1';
const clift = `${training}-clift`;
let place: TestStore;
let settings: Settings;

beforeAll(async () => {
  place = await openTestStore();
  settings = { ...settingsForHome(home), databaseUrl: place.databaseUrl, blobDirectory: place.blobDirectory };
  await fabricateDemo(place.store, training);
});
afterAll(async () => {
  await place.close();
  rmSync(home, { recursive: true, force: true });
});

/** What a command prints. */
async function printed(command: () => Promise<void> | void): Promise<string> {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  try {
    await command();
  } finally {
    log.mockRestore();
  }
  return lines.join('\n');
}

async function printedJson(command: () => Promise<void> | void): Promise<unknown> {
  return JSON.parse(await printed(command));
}

/** Only `fabricated-runs.ts` knows this word: it stands in page texts, answers, verdicts and rationales. */
const written = 'Archive';

describe('clift runs', () => {
  test('says of each run how far it is and what became of its rollouts', async () => {
    expect(await printedJson(() => runs(settings, { json: true }))).toMatchObject([
      {
        id: clift,
        kind: 'evaluate',
        progress: { done: 4, total: 4, rollouts: { success: 3, failure: 4, unscored: 1 } },
      },
      { id: `${training}-base`, progress: { rollouts: { success: 1, failure: 2, unscored: 1 } } },
      { id: training, kind: 'train', state: 'completed', modelCalls: 1, costUsd: 0.25 },
    ]);
    expect(await printed(() => runs(settings, {}))).toMatch(
      /demo-s1-1 +train +completed +4\/4 +3 +3 +2 +\$0\.2500/,
    );
  });

  test('works while the embedded database is down, and leaves it down', async () => {
    const own = settingsForHome(join(home, 'of-its-own'));
    expect(await printed(() => runs(own, {}))).toContain('No runs yet; `clift demo` makes the first.');
    expect(await stopStack(own)).toMatchObject({ postgres: false });
  });

  test('names the bank and adapter that a training run made, and those that an evaluation uses', async () => {
    const { bankDigest, adapterDigest } = await place.store.getRun(training);
    const made = { bankDigest, adapterDigest };
    const unused = { bankDigest: null, adapterDigest: null };
    expect(await printedJson(() => runs(settings, { json: true }))).toMatchObject([made, unused, made]);
  });
});

describe('clift show', () => {
  test('a run that evaluates shows each task, the greedy outcome beside the emitted one', async () => {
    const text = await printed(() => show(settings, [clift], {}));
    expect(text).toMatch(/sandbox\/mail\/won +easy +failure +success +swapped +5/);
    expect(text).toContain('1 blocked');
  });

  test('a run on tasks with caveats shows its rates with and without them', async () => {
    const report = await printedJson(() => show(settings, [clift], { json: true }));
    expect(report).toMatchObject({
      work: {
        arms: [{ rates: { ofAll: { successes: 1, total: 4 } } }, { rates: { ofAll: { total: 4 } } }],
        byApp: [
          { name: 'mail', rates: { ofAll: { total: 2 } } },
          { name: 'shop', rates: { ofAll: { total: 2 }, unscored: { blocked: 1 } } },
        ],
        byDifficulty: [{ name: 'easy', rates: { ofAll: { total: 4 } } }],
        soundArms: [{ rates: { ofAll: { successes: 1, total: 3 } } }, { rates: { ofAll: { total: 3 } } }],
      },
    });
    const text = await printed(() => show(settings, [clift], {}));
    expect(text).toContain('Success on 4 held-out tasks, ');
    expect(text).toMatch(/app +of all tasks[\s\S]*\nshop +\d\/2 /);
    expect(text).toContain('Success on 3 held-out tasks without a caveat, ');
    expect(text).toMatch(/sandbox\/shop\/walled .* impossible/);
  });

  test('a run that trains shows how each step ended', async () => {
    const text = await printed(() => show(settings, [training], {}));
    expect(text).toMatch(/0 +2 +sandbox\/mail\/practice +below_quorum +0 +0 +2/);
  });

  test('a task shows its votes and the evidence for the swap', async () => {
    expect(await printedJson(() => show(settings, [clift, won.id], { json: true }))).toMatchObject({
      selected: `eval/${clift}/task/${won.id}/rollout/1`,
      rollouts: [{ evidence: -0.4 }, { evidence: 0.4 }],
      comparisons: [{ swap: true }],
      evidence: [{ greedy: 0, emitted: 1 }],
    });
    expect(await printed(() => show(settings, [clift, won.id], {}))).toContain('B B, swapped');
  });

  test('a training step shows judge scores and advantages beside each action', async () => {
    const text = await printed(() => show(settings, [training, 'step', '1'], {}));
    expect(text).toMatch(/0\.50 +\+0\.70 +1\. click button/);
    expect(text).toMatch(/0\.25 +-0\.70 +2\. click button/);
    expect(text).toMatch(/Did the page confirm the change\? +Y +n/);
  });

  test('a rollout shows the attempt that died beside the one that finished', async () => {
    const rollout = `${trainStepId(training, 0, 0)}/rollout/0`;
    expect(await printedJson(() => show(settings, [rollout], { json: true }))).toMatchObject({
      outcome: { kind: 'success' },
      attempts: [{ ending: 'browser crashed' }, { ending: 'finished', steps: 2 }],
      trace: [
        { judge: 0.5, advantage: 0.7 },
        { judge: 0.25, advantage: 0.7 },
      ],
      answers: [{ text: 'Did the page confirm the change?', pYes: 1 }],
    });
    expect(await printed(() => show(settings, [rollout], {}))).toContain('browser crashed');
  });

  test('a rollout shows how much its browser asked for, and everything that was flagged', async () => {
    const rollout = `${trainStepId(training, 0, 0)}/rollout/0`;
    const text = await printed(() => show(settings, [rollout], {}));
    expect(text).toMatch(/requests +2, 1 flagged/);
    expect(text).toMatch(/flagged +GET .*foreign-host, answered 403/s);
    expect(await printedJson(() => show(settings, [rollout], { json: true }))).toMatchObject({
      requestLog: { requests: [{ status: 200 }, { status: 403, flags: ['foreign-host'] }], dropped: 0 },
    });
  });

  test('what does not exist is an error that says where to look', async () => {
    await expect(show(settings, ['nobody'], {})).rejects.toThrow(
      'no run named nobody; `clift runs` lists them',
    );
    await expect(show(settings, [clift, 'x'], {})).rejects.toThrow(`\`clift show ${clift}\` lists its tasks`);
    await expect(show(settings, [training, 'step', '9'], {})).rejects.toThrow('has not begun step 9');
    await expect(show(settings, [clift, 'step', '0'], {})).rejects.toThrow('has no training steps');
    await expect(show(settings, [training, trainingTask.id], {})).rejects.toThrow(
      'used it in step 0, 1, 2, 3',
    );
    await expect(show(settings, ['a/rollout/7'], {})).rejects.toThrow('no rollout named a/rollout/7');
  });

  test('words that name nothing are refused before anything is started', () => {
    expect(() => parseShown([], 0)).toThrow('clift show <run>');
    expect(() => parseShown(['run', 'step'], 0)).toThrow('which step?');
    expect(() => parseShown(['run', 'step', 'x'], 0)).toThrow('which step?');
    expect(() => parseShown(['run', 'task', '3'], 0)).toThrow('clift show <run>');
    expect(parseShown(['run', 'step', '3'], 2)).toEqual({ kind: 'step', runId: 'run', shard: 2, step: 3 });
  });
});

describe('clift bank', () => {
  test('a bank is found by the run that froze it, the run that selects with it, and its digest', async () => {
    const [{ digest } = { digest: '' }] = await place.store
      .listRuns()
      .then((all) => all.flatMap(({ bankDigest }) => (bankDigest === null ? [] : [{ digest: bankDigest }])));
    for (const name of [training, clift, digest, digest.slice(0, 8)]) {
      expect(await printedJson(() => showBank(settings, name, { json: true }))).toMatchObject({
        digest,
        questions: 3,
      });
    }
    expect(await printedJson(() => listBanks(settings, { json: true }))).toMatchObject([
      { digest, runId: training, questions: 3, certified: 1 },
    ]);
  });

  test('every question is printed, the refused ones with their reasons', async () => {
    const text = await printed(() => showBank(settings, training, {}));
    expect(text).toMatch(/Did the page confirm the change\? +seed +global \* +64 +\+0\.40 +\+0\.40/);
    expect(text).toContain('too few answers, no lift that way');
    expect(text).toContain('1 retired');
  });

  test('a run without a bank is an error that says so', async () => {
    await expect(showBank(settings, `${training}-base`, {})).rejects.toThrow('selects without a bank');
    await expect(showBank(settings, 'feedbeef', {})).rejects.toThrow('no run named feedbeef');
  });
});

describe('clift audit', () => {
  test('one history names every run, attempt, vote and grade of the task, oldest run first', async () => {
    expect(await printedJson(() => audit(settings, won.id, { json: true }))).toMatchObject({
      runs: [
        { runId: `${training}-base`, owners: [{ rollouts: [{ outcome: { kind: 'failure' } }] }] },
        {
          runId: clift,
          owners: [
            {
              rollouts: [
                { attempts: [{ ending: 'browser crashed' }, {}] },
                { answers: { yes: 1, no: 0, invalid: 0 } },
              ],
              selection: { comparisons: [{ swap: true }] },
            },
          ],
        },
      ],
    });
  });

  test('a training task is followed through every group, with the judge and what it cost', async () => {
    const text = await printed(() => audit(settings, trainingTask.id, {}));
    for (const step of [0, 1, 2, 3]) expect(text).toContain(`${trainStepId(training, 0, step)}: `);
    expect(text).toContain('judge rubric: 1 call, 100 tokens in, 20 out, $0.2500');
    expect(text).toContain('below_quorum');
  });

  test('what pages, agents and models wrote is shown only on request, and then inside a fence', async () => {
    for (const json of [true, false]) {
      expect(await printed(() => audit(settings, won.id, { json }))).not.toContain(written);
    }
    const text = await printed(() => audit(settings, won.id, { content: true }));
    const lines = text.split('\n').filter((line) => line.includes(written));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => !/^ *│ /.test(line))).toEqual([]);
  });

  test('votes have their reasons, and calls what looked suspicious in them', async () => {
    const [incumbent, challenger] = [0, 1].map((index) => rolloutId(evaluateTaskId(clift, won.id), index));
    const owner = `${won.id}/${incumbent}/${challenger}`;
    await place.store.callOnce(
      { runId: clift, purpose: 'selector', owner, ordinal: 0 },
      'vote',
      async () => ({
        reply: { label: 'B', reason: 'Only B saved the form.' },
        model: 'selector',
        cost: {
          usage: { inputTokens: 1, outputTokens: 1 },
          costUsd: null,
          report: {
            ...{ provider: 'openai', model: 'served', parameters: {}, finishReason: 'stop' },
            flags: ['"attempt A" contains an order to forget'],
          },
        },
      }),
    );
    const brief = await printed(() => audit(settings, won.id, {}));
    expect(brief.replaceAll(/\s+/g, ' ')).toContain(
      'unknown; flagged: "attempt A" contains an order to forget',
    );
    expect(brief).not.toContain('Only B saved the form.');
    const text = await printed(() => audit(settings, won.id, { content: true }));
    expect(text).toMatch(/│ 0 against 1, B: Only B saved the form\./);
  });

  test('a task that no run knows is an error that says where tasks are listed', async () => {
    await expect(audit(settings, 'x', {})).rejects.toThrow('`clift tasks list`');
  });
});

describe('clift tasks', () => {
  test('the sandbox lists tasks of both splits', async () => {
    const listed = await printed(() => listTasks({ benchmark: 'sandbox' }));
    expect(listed).toMatch(/ train /);
    expect(listed).toMatch(/ heldout /);
  });
});

test('no command prints a control character that a page wrote, or a line beyond the width of reports', async () => {
  const commands = [
    () => runs(settings, {}),
    () => show(settings, [training], {}),
    () => show(settings, [clift], {}),
    () => show(settings, [clift, won.id], {}),
    () => show(settings, [training, 'step', '0'], {}),
    () => show(settings, [`${trainStepId(training, 0, 0)}/rollout/0`], {}),
    () => showBank(settings, training, {}),
    () => audit(settings, won.id, { content: true }),
    () => audit(settings, trainingTask.id, { content: true }),
  ];
  for (const command of commands) {
    const lines = (await printed(command)).split('\n');
    expect(lines.filter((line) => /[\p{Cc}\p{Cf}]/u.test(line) || stringWidth(line) > WIDTH)).toEqual([]);
  }
  const json = await printed(() => audit(settings, won.id, { content: true, json: true }));
  expect(json).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
