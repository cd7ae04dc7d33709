import { Command, InvalidArgumentError, Option } from 'commander';
import { loadSettings } from '../workers/settings.ts';
import { arrangementNames, victims } from './chaos/cells.ts';

// Each command brings its own code when it is asked for: help and mistakes are answered at once.
const program = new Command('clift');

program
  .command('demo')
  .description('train, certify and select on the sandbox; continues an unfinished demo')
  .option('--seed <n>', 'seed of the run', wholeNumber)
  .option('--steps <n>', 'training steps', wholeNumber)
  .option('--ablation', 'also train vanilla GRPO, for comparison')
  .option('--config <file>', 'experiment file instead of infra/experiments/demo.yaml')
  .addOption(
    new Option('--models <kind>', 'ask models over HTTP that are played by code').choices(['scripted']),
  )
  .option('--json', 'print one JSON document')
  .action(async (options) => (await import('./commands/demo.ts')).demo(loadSettings(), options));

program
  .command('rollout')
  .description('play one rollout here and now and grade it; nothing is stored')
  .option('--task <id>', 'id of the task; a script names its own')
  .option('--script <file>', 'play this action script instead of the embedded base policy')
  .option('--observe', 'also print the last page as policies read it')
  .option('--screenshots <folder>', 'save a screenshot after each step')
  .option('--marks', 'with a box and its ref around each element in them')
  .option('--json', 'print one JSON document')
  .action(async (options) => (await import('./commands/rollout.ts')).rollout(loadSettings(), options));

program
  .command('train')
  .description('train by an experiment file; continues its unfinished run')
  .requiredOption('--config <file>', 'experiment file')
  .option('--name <run>', 'name of the run, instead of <file>-s<seed>-<n>')
  .option('--seed <n>', 'seed of the run', wholeNumber)
  .option('--steps <n>', 'training steps of each shard', wholeNumber)
  .option('--detach', 'leave the work to workers elsewhere')
  .option('--json', 'print one JSON document')
  .action(async (options) => (await import('./commands/train.ts')).train(loadSettings(), options));

program
  .command('evaluate')
  .description('evaluate the held-out tasks of an experiment file; continues its unfinished run')
  .requiredOption('--config <file>', 'experiment file')
  .option('--name <run>', 'name of the run, instead of <file>-eval-s<seed>-<n>')
  .option('--bank <digest>', 'frozen bank that selects: a digest, or the run that froze it')
  .option('--adapter <digest>', 'adapter that acts: a digest, or the run that made it')
  .option('--seed <n>', 'seed of the run', wholeNumber)
  .option('--detach', 'leave the work to workers elsewhere')
  .option('--json', 'print one JSON document')
  .action(async (options) => (await import('./commands/evaluate.ts')).evaluate(loadSettings(), options));

program
  .command('pause')
  .description('let a run finish what is under way and stop there, safe to kill')
  .argument('<run>', 'name of the run')
  .option('--reason <text>', 'why, for whoever looks at the run', 'paused on request')
  .option('--wait <seconds>', 'how long to wait for what is under way', wholeNumber, 3600)
  .option('--json', 'print one JSON document')
  .action(async (runId, options) =>
    (await import('./commands/pause.ts')).pause(loadSettings(), runId, options),
  );

program
  .command('resume')
  .description('go on with a run that is paused, failed or was interrupted')
  .argument('<run>', 'name of the run')
  .option('--detach', 'leave the work to workers elsewhere')
  .option('--json', 'print one JSON document')
  .action(async (runId, options) =>
    (await import('./commands/resume.ts')).resume(loadSettings(), runId, options),
  );

program
  .command('cancel')
  .description('end a run for good; what it finished stays')
  .argument('<run>', 'name of the run')
  .option('--json', 'print one JSON document')
  .action(async (runId, options) =>
    (await import('./commands/cancel.ts')).cancel(loadSettings(), runId, options),
  );

program
  .command('replay-histories')
  .description('replay what workflows recorded against this code: everything under way, or a run')
  .argument('[run]', 'a run, whose exported histories are replayed')
  .option('--json', 'print one JSON document')
  .action(async (runId, options) =>
    (await import('./commands/replay-histories.ts')).replay(loadSettings(), runId, options),
  );

program
  .command('worker')
  .description('serve task queues by hand, beside or instead of the workers that commands bring')
  .option('--role <roles>', 'roles of the process, parted by commas; all without')
  .option('--grace <seconds>', 'how long its activities may go on when it is told to end', wholeNumber)
  .action(async (options) => (await import('./commands/worker.ts')).worker(loadSettings(), options));

program
  .command('drain')
  .description('tell the workers of this home to end and hand their work over')
  .option('--json', 'print one JSON document')
  .action(async (options) => (await import('./commands/drain.ts')).drain(loadSettings(), options));

program
  .command('runs')
  .description('list every run with its state, progress and cost')
  .option('--json', 'print one JSON document')
  .action(async (options) => (await import('./commands/runs.ts')).runs(loadSettings(), options));

program
  .command('show')
  .description('show a run, one of its tasks or training steps, or a rollout')
  .argument('<what...>', '<run>, <run> <task>, <run> step <n>, or <rollout>')
  .option('--shard <k>', 'shard of the training step', wholeNumber, 0)
  .option('--json', 'print one JSON document')
  .action(async (words, options) =>
    (await import('./commands/show.ts')).show(loadSettings(), words, options),
  );

const bank = program.command('bank').description('list and show frozen question banks');

bank
  .command('list')
  .description('list the frozen banks')
  .option('--json', 'print one JSON document')
  .action(async (options) => (await import('./commands/bank.ts')).listBanks(loadSettings(), options));

bank
  .command('show')
  .description('show what a bank may say, and what it refuses to say')
  .argument('<bank>', 'a run, a digest or the beginning of one')
  .option('--json', 'print one JSON document')
  .action(async (name, options) =>
    (await import('./commands/bank.ts')).showBank(loadSettings(), name, options),
  );

program
  .command('audit')
  .description('show one task across all runs: attempts, judges, answers, votes, grades, calls')
  .argument('<task>', 'id of the task')
  .option('--content', 'also what pages, agents and models wrote')
  .option('--json', 'print one JSON document')
  .action(async (taskId, options) =>
    (await import('./commands/audit.ts')).audit(loadSettings(), taskId, options),
  );

const models = program.command('models').description('check the models that an experiment asks');

models
  .command('check')
  .description('ask each model a few words: what works, how fast, at what price')
  .option('--config <file>', 'experiment file instead of infra/experiments/demo.yaml')
  .option('--json', 'print one JSON document')
  .action(async (options) => (await import('./commands/models.ts')).checkModels(loadSettings(), options));

const benchmark = program.command('benchmark').description('examine a benchmark');

benchmark
  .command('doctor')
  .description('find vacuous, unsolved and flaky tasks with agents that need no model')
  .argument('<benchmark>', 'sandbox or wai')
  .option('--app <name>', 'tasks of one app only')
  .option('--suite <name>', 'tasks of one named subset only')
  .option('--limit <n>', 'the first n of them', wholeNumber)
  .option('--json', 'print one JSON document')
  .action(async (name, options) =>
    (await import('./commands/benchmark.ts')).diagnoseBenchmark(loadSettings(), name, options),
  );

const tasks = program.command('tasks').description('list the tasks of a benchmark');

tasks
  .command('list')
  .description('list the tasks of a benchmark')
  .option('--benchmark <name>', 'whose tasks', 'sandbox')
  .addOption(new Option('--split <split>').choices(['train', 'heldout']))
  .option('--app <name>', 'tasks of one app only')
  .addOption(new Option('--difficulty <difficulty>').choices(['easy', 'medium', 'hard', 'unrated']))
  .option('--suite <name>', 'tasks of one named subset only')
  .option('--json', 'print one JSON document')
  .action(async (options) => (await import('./commands/tasks.ts')).listTasks(options));

program
  .command('chaos')
  .description('kill every part of a running job, and prove that its results are those of an undisturbed one')
  .option('--config <file>', 'experiment file instead of infra/experiments/chaos.yaml')
  .option('--seed <n>', 'seed of the order in which is struck', wholeNumber)
  .option('--kills <n>', 'strikes in all', wholeNumber)
  .addOption(new Option('--victims <victim...>', 'strike only these').choices(victims))
  .addOption(
    new Option('--arrangements <name...>', 'how servers and models are reached').choices(arrangementNames),
  )
  .option('--keep', 'leave the homes of the jobs where they are')
  .option('--json', 'print one JSON document')
  .action(async (options) => (await import('./commands/chaos.ts')).chaos(loadSettings(), options));

program
  .command('up')
  .description('start the embedded Temporal and Postgres, fetching what is missing')
  .option('--json', 'print one JSON document')
  .action(async (options) => (await import('./commands/up.ts')).up(loadSettings(), options));

program
  .command('down')
  .description('stop the embedded stack; its data stay')
  .option('--json', 'print one JSON document')
  .action(async (options) => (await import('./commands/down.ts')).down(loadSettings(), options));

program
  .command('doctor')
  .description('say of each part whether it is here, and what brings it')
  .option('--json', 'print one JSON document')
  .action(async (options) => (await import('./commands/doctor.ts')).doctor(loadSettings(), options));

program
  .command('check')
  .description('check formatting, lint, types, walls, unused code and the workflow bundle')
  .action(async () => (await import('./commands/check.ts')).check(loadSettings()));

program
  .command('test')
  .description('run the tests on a stack of their own')
  .argument('[filters...]', 'parts of test file paths')
  .action(async (filters) => (await import('./commands/test.ts')).test(loadSettings(), filters));

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
