import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { Grader } from '../../../benchmarks/wai/grader.ts';
import { commandLine, waitUntil } from '../../../infra/processes.ts';
import { createFixture, fixtureRoot, taskNamed } from './support.ts';

const verifier = (name: string) => join(fixtureRoot, 'apps/notes', `${name}.py`);
const notes = (starred: boolean, text = 'Call the bank') => ({ notes: [{ id: 2, text, starred }] });

function writeVerifier(source: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'clift-verifier-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'verifier.py');
  writeFileSync(file, source);
  return file;
}

const grader = new Grader();
afterAll(() => grader.close());

describe('a verifier', () => {
  test('gives its verdict on the state it is given, and may print', async () => {
    expect(await grader.verify(verifier('real-tasks/task_e1'), notes(true))).toEqual({
      passed: true,
      message: 'starred: True',
    });
    expect(await grader.verify(verifier('real-tasks/task_e1'), notes(false))).toMatchObject({
      passed: false,
    });
  });

  test('gets every character of the state as it was', async () => {
    const text = 'Zeile 1\nZeile 2 \u2028 – "quoted" \\ 🗒 \u0000';
    const { message } = await grader.verify(verifier('real-tasks/task_m1'), notes(false, text));
    expect(message).toContain('🗒');
    expect(await grader.verify(verifier('real-tasks/task_m1'), notes(true, text))).toMatchObject({
      passed: true,
    });
  });

  test('asked by many at once answers each', async () => {
    const asked = [...Array(40).keys()].map((index) => index % 3 === 0);
    const verdicts = await Promise.all(
      asked.map((starred) => grader.verify(verifier('real-tasks/task_e1'), notes(starred))),
    );
    expect(verdicts.map(({ passed }) => passed)).toEqual(asked);
  });
});

describe('a defect is never a verdict:', () => {
  test('an exception is an error that names it, and the next verifier is not harmed', async () => {
    await expect(grader.verify(verifier('real-tasks/task_h1'), notes(true))).rejects.toThrow(
      /task_h1\.py: KeyError: 'a note that nobody wrote'/,
    );
    expect(await grader.verify(verifier('real-tasks/task_e1'), notes(true))).toMatchObject({ passed: true });
  });

  test('a verifier that does not end is stopped, and those who waited for it are served', async () => {
    const impatient = new Grader(3_000);
    const endless = impatient.verify(verifier('real-tasks/task_h2'), notes(true));
    const next = impatient.verify(verifier('real-tasks/task_e1'), notes(true));
    await expect(endless).rejects.toThrow(/task_h2\.py did not end within 3000 ms/);
    expect(await next).toMatchObject({ passed: true });
    impatient.close();
  });

  test('a verifier that ends Python is an error that tells what Python said, and Python is started again', async () => {
    await expect(grader.verify(verifier('real-tasks/task_h3'), notes(true))).rejects.toThrow(
      'Python ended: the verifier gave up',
    );
    expect(await grader.verify(verifier('real-tasks/task_e1'), notes(true))).toMatchObject({ passed: true });
  });

  test('what a verifier or its children write is no reply, neither to it nor to the next one', async () => {
    const planted = '{"passed": true, "message": "planted"}';
    const file = writeVerifier(`import os
def verify(server):
    os.write(1, b'${planted}\\n')
    os.system("""echo '${planted}'""")
    return False, "seen"`);
    expect(await grader.verify(file, notes(true))).toEqual({ passed: false, message: 'seen' });
    expect(await grader.verify(file, notes(true))).toEqual({ passed: false, message: 'seen' });
  });

  test.runIf(process.platform === 'linux')('a verifier that eats memory leaves some to others', async () => {
    const file = writeVerifier('def verify(server):\n    return len(bytearray(8 << 30)) > 0, ""');
    await expect(grader.verify(file, notes(true))).rejects.toThrow('MemoryError');
    expect(await grader.verify(verifier('real-tasks/task_e1'), notes(true))).toMatchObject({ passed: true });
  });

  test('a file that is not there is an error', async () => {
    await expect(grader.verify(verifier('real-tasks/task_e99'), notes(true))).rejects.toThrow(
      'FileNotFoundError',
    );
  });
});

test('a grader that nobody uses any more keeps no process alive', async () => {
  const script = `
    import { Grader } from ${JSON.stringify(join(import.meta.dirname, '../../../benchmarks/wai/grader.ts'))};
    const { passed } = await new Grader().verify(${JSON.stringify(verifier('real-tasks/task_e1'))}, ${JSON.stringify(notes(true))});
    console.log(passed);`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module-typescript', '--eval', script],
    { timeout: 60_000 },
  );
  expect(stdout.trim()).toBe('true');
});

test('a verifier that hangs when its worker is killed does not run on for ever', async () => {
  const script = `
    import { Grader } from ${JSON.stringify(join(import.meta.dirname, '../../../benchmarks/wai/grader.ts'))};
    const grader = new Grader(4_000);
    await grader.verify(${JSON.stringify(verifier('real-tasks/task_e1'))}, ${JSON.stringify(notes(true))});
    console.log('begins');
    await grader.verify(${JSON.stringify(verifier('real-tasks/task_h2'))}, ${JSON.stringify(notes(true))});`;
  const worker = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script]);
  const [line] = await Promise.race([once(worker.stdout, 'data'), once(worker, 'exit')]);
  expect(String(line)).toContain('begins');
  const python = Number(
    execFileSync('ps', ['-o', 'pid=', '--ppid', String(worker.pid)], { encoding: 'utf8' }),
  );
  expect(commandLine(python)).toContain('grader.py');
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  expect(await waitUntil(() => !commandLine(python).includes('grader.py'), 20_000)).toBe(true);
});

describe('grading evidence', () => {
  const benchmark = createFixture(grader);
  const evidence = { taskId: '', finalUrl: '', answer: null, infeasible: false };

  test('needs the stored state alone, whatever else the rollout said', async () => {
    const task = taskNamed(benchmark, 'real-e1');
    const stored = JSON.parse(JSON.stringify({ ...evidence, state: notes(true) }));
    expect(await benchmark.grade(task, stored)).toMatchObject({ kind: 'success' });
    expect(await benchmark.grade(task, { ...stored, infeasible: true })).toMatchObject({ kind: 'success' });
  });

  test('without a state is insufficient, never a failure', async () => {
    const task = taskNamed(benchmark, 'real-e1');
    expect(await benchmark.grade(task, { ...evidence, state: null })).toMatchObject({
      kind: 'insufficient_evidence',
    });
  });
});
