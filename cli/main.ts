import { Command } from 'commander';
import { loadSettings } from '../workers/settings.ts';
import { down } from './commands/down.ts';
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

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
