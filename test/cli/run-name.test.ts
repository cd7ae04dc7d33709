import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameOfFile, refuseOddName } from '../../cli/run-name.ts';
import { runOfWorkflow, trainStepId } from '../../workflows/names.ts';

describe('the name of a run', () => {
  it.each(['', '.hidden', 'a/b', 'a b', 'ü', '../up', '-x', 'x'.repeat(65)])('is not %j', (name) => {
    expect(() => refuseOddName(name)).toThrow(/letters, digits/);
  });

  it('after a file is never odd, whatever the file is called, and leaves room for a seed and a number', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(), (path, seed) => {
        refuseOddName(`${nameOfFile(path)}-eval-s${seed}-1`);
      }),
    );
    expect(nameOfFile('/x/paper setting.yaml')).toBe('paper-setting');
  });

  it('is found again in the ids of its workflows, and in no other id', () => {
    expect(runOfWorkflow(trainStepId('nightly.2', 3, 4))).toBe('nightly.2');
    expect(runOfWorkflow('somebody/train/else')).toBeNull();
  });
});
