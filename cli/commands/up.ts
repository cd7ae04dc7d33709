import { ensureChromium } from '../../infra/chromium.ts';
import { startStack } from '../../infra/stack.ts';
import { keepStack } from '../../infra/stack-users.ts';
import type { Settings } from '../../workers/settings.ts';

/** Starts what the embedded stack lacks and prints the addresses; a second `up` changes nothing. */
export async function up(settings: Settings, { json = false }: { json?: boolean }): Promise<void> {
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const [stack, chromium] = await Promise.all([
    startStack(settings, report),
    ensureChromium(settings, report),
  ]);
  keepStack(settings.home);
  const { temporalAddress, namespace, databaseUrl, blobDirectory, home, startedByUs } = stack;
  if (json) {
    console.log(
      JSON.stringify({ temporalAddress, namespace, databaseUrl, blobDirectory, home, startedByUs, chromium }),
    );
    return;
  }
  console.log(`Temporal  ${temporalAddress}  namespace ${namespace}`);
  console.log(`Postgres  ${databaseUrl}`);
  console.log(`Chromium  ${chromium.executablePath}  ${chromium.version}`);
  console.log(`Blobs     ${blobDirectory}`);
  console.log('`clift down` stops them; the data stay.');
}
