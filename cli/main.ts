import { Command } from 'commander';
import { loadSettings } from '../workers/settings.ts';
import { check } from './commands/check.ts';
import { doctor } from './commands/doctor.ts';
import { down } from './commands/down.ts';
import { test } from './commands/test.ts';
import { up } from './commands/up.ts';

const program = new Command('clift');

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
  .action((filters) => test(filters));

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
