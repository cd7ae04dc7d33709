import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandboxBenchmark } from '../../../benchmarks/sandbox/index.ts';
import { isSolved } from '../../../cli/commands/rollout.ts';
import { type PlayedRollout, playRollout } from '../../../cli/rollout/play.ts';
import { nextScriptAction, readScript, type Script } from '../../../cli/rollout/script.ts';
import { createTestPool, type TestPool } from '../../activities/browser/support.ts';

const benchmark = createSandboxBenchmark();
const folder = new URL('scripts/', import.meta.url);
const directory = mkdtempSync(join(tmpdir(), 'clift-scripts-'));

let testPool: TestPool;
beforeAll(async () => {
  testPool = await createTestPool();
});
afterAll(async () => {
  await testPool.close();
  rmSync(directory, { recursive: true });
});

function play(script: Script): Promise<PlayedRollout> {
  const task = benchmark.tasks.find(({ id }) => id === script.task);
  if (task === undefined) throw new Error(`The sandbox has no task ${script.task}.`);
  return playRollout({
    ...{ pool: testPool.pool, benchmark, task, signal: new AbortController().signal },
    agent: (observation, history) => nextScriptAction(script, observation, history),
  });
}

function written(text: string): Script {
  const path = join(directory, 'script.yaml');
  writeFileSync(path, text);
  return readScript(path);
}

const replying = readScript(new URL('reply.yaml', folder).pathname);

describe('a script', () => {
  it.each(readdirSync(folder))('%s solves its task, which fails untouched', async (file) => {
    const played = await play(readScript(join(folder.pathname, file)));
    expect(played.problem).toBeNull();
    expect(played.untouched.outcome.kind).toBe('failure');
    expect(played.graded.outcome.kind).toBe('success');
    expect(isSolved(played)).toBe(true);
  });

  it('that leaves the decisive step out fails', async () => {
    const played = await play({ ...replying, steps: replying.steps.slice(0, -1) });
    expect(played).toMatchObject({
      problem: null,
      stopReason: 'answered',
      graded: { outcome: { kind: 'failure' } },
    });
    expect(isSolved(played)).toBe(false);
  });

  it('that looks for what is not there ends with what comes near, and is graded as it stands', async () => {
    const played = await play(
      written(`task: ${replying.task}\nsteps: [{ tool: click, on: { role: link, name: Compose a letter } }]`),
    );
    expect(played).toMatchObject({
      stopReason: 'script_failed',
      steps: [],
      graded: { outcome: { kind: 'failure' } },
    });
    expect(played.problem).toMatch(/^step 1 \(click\): .* near it: link "Compose"/);
  });

  it('that expects something else of a step ends there', async () => {
    const compose = '{ tool: click, on: { role: link, name: Compose }, expect: { text: no such words } }';
    const played = await play(written(`task: ${replying.task}\nsteps: [${compose}, { tool: back }]`));
    expect(played.problem).toBe('step 1 (click) left a page without the text "no such words"');
    expect(played.steps).toHaveLength(1);
    const select = '{ tool: select, on: { role: link, name: Compose }, option: x }';
    const refused = await play(written(`task: ${replying.task}\nsteps: [${select}]`));
    expect(refused.problem).toMatch(/^step 1 \(select\) ended with not-editable instead of ok/);
  });

  it('with an error is refused with its file, the place and the reason', () => {
    const reading = () => written('task: t\nsteps: [{ tool: click, on: { css: "#save" } }]');
    expect(reading).toThrow(join(directory, 'script.yaml'));
    expect(reading).toThrow(/steps\[0\]\.on/);
    expect(() => written('task: t\nsteps: [{ tool: evaluate, code: alert() }]')).toThrow(/steps\[0\]\.tool/);
  });
});
