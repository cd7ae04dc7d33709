import { stopStack } from '../../infra/stack.ts';
import type { Settings } from '../../workers/settings.ts';

/** Stops the embedded servers of this home; their data stay. */
export async function down(settings: Settings, { json = false }: { json?: boolean }): Promise<void> {
  const stopped = await stopStack(settings);
  if (json) {
    console.log(JSON.stringify({ stopped }));
    return;
  }
  console.log(`Temporal  ${stopped.temporal ? 'stopped' : 'was not running'}`);
  console.log(`Postgres  ${stopped.postgres ? 'stopped' : 'was not running'}`);
}
