import { Command, InvalidArgumentError } from 'commander';
import { loadSettings } from '../workers/settings.ts';
import { check } from './commands/check.ts';
import { demo } from './commands/demo.ts';
import { doctor } from './commands/doctor.ts';
import { down } from './commands/down.ts';
import { test } from './commands/test.ts';
import { up } from './commands/up.ts';

const program = new Command('clift');

program
  .command('demo')
  .description('train, certify and select on the sandbox; continues an unfinished demo')
  .option('--seed <n>', 'seed of the run', wholeNumber)
  .option('--steps <n>', 'training steps', wholeNumber)
  .option('--ablation', 'also train vanilla GRPO, for comparison')
  .option('--config <file>', 'experiment file instead of infra/experiments/demo.yaml')
  .option('--json', 'print one JSON document')
  .action((options) => demo(loadSettings(), options));

program
  .command('up')
  .description('start the embedded Temporal and Postgres, fetching what is missing')
  .option('--json', 'print one JSON document')
  .action((options) => up(loadSettings(), options));

program
  .command('down')
  .description('stop the embedded stack; its data stay')
  .option('--json', 'print one JSON document')
  .action((options) => down(loadSettings(), options));

program
  .command('doctor')
  .description('say of each part whether it is here, and what brings it')
  .option('--json', 'print one JSON document')
  .action((options) => doctor(loadSettings(), options));

program
  .command('check')
  .description('check formatting, lint, types, walls, unused code and the workflow bundle')
  .action(() => check(loadSettings()));

program
  .command('test')
  .description('run the tests on a stack of their own')
  .argument('[filters...]', 'parts of test file paths')
  .action((filters) => test(loadSettings(), filters));

function wholeNumber(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('it must be a whole number from 0.');
}

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
