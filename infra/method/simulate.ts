/**
 * `npm run simulate -- [FOLDER]`: METHOD 3's simulations and 6c from this project's own code. Writes report.md and
 * its charts, and exits with 1 when a claim does not hold.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Section, sectionSchema } from './simulation/experiment.ts';
import { simulationNames } from './simulation/experiments.ts';
import { renderReport } from './simulation/report.ts';

function simulateOnThread(name: string): Promise<Section> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./simulation/worker.ts', import.meta.url), { workerData: name });
    worker.once('message', (message) => resolve(sectionSchema.parse(message)));
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error(`the thread of "${name}" ended without a result`)));
  });
}

/** Takes names from the shared queue until it is empty. */
async function work(queue: string[], sections: Map<string, Section>): Promise<void> {
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const started = performance.now();
    sections.set(name, await simulateOnThread(name));
    console.log(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }
}

const [folder = '.clift/reports/method'] = process.argv.slice(2);
const queue = [...simulationNames];
const found = new Map<string, Section>();
await Promise.all(Array.from({ length: availableParallelism() }, () => work(queue, found)));

const sections = simulationNames.flatMap((name) => found.get(name) ?? []);
const claims = sections.flatMap((section) => section.claims);
const broken = claims.filter((claim) => !claim.holds);
mkdirSync(folder, { recursive: true });
for (const chart of sections.flatMap((section) => section.charts))
  writeFileSync(join(folder, chart.file), chart.svg);
writeFileSync(join(folder, 'report.md'), renderReport(sections));
for (const claim of broken) console.error(`does not hold: ${claim.text}`);
console.log(
  `${claims.length - broken.length} of ${claims.length} claims hold; report: ${join(folder, 'report.md')}`,
);
process.exitCode = broken.length > 0 ? 1 : 0;
